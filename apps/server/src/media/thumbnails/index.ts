export { LIVE_STILL_MS, LiveStills } from "./live-stills.ts";
export { PreviewMaker } from "./preview-maker.ts";
export { type ImageShape, StillMaker } from "./still-maker.ts";
export { type PreviewShape, StoredPreviews } from "./stored-previews.ts";
export { StoredSheets } from "./stored-sheets.ts";
export { StoredStills } from "./stored-stills.ts";
export { type StoryboardCues, storyboardOf, storyboardText } from "./storyboard.ts";
