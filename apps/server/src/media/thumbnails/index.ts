export { PreviewMaker } from "./preview-maker.ts";
export { type ImageShape, StillMaker } from "./still-maker.ts";
export { KEYFRAME_SHAPE, Stills } from "./stills.ts";
export { type PreviewShape, StoredPreviews } from "./stored-previews.ts";
export { StoredSheets } from "./stored-sheets.ts";
export { type StoryboardCues, storyboardOf, storyboardText } from "./storyboard.ts";
