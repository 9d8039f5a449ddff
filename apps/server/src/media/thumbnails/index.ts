export { LIVE_STILL_MS, LiveStills } from "./live-stills.ts";
export { StillMaker, type StillShape, TooManyStills } from "./still-maker.ts";
export { StoredStills } from "./stored-stills.ts";
export { storyboardOf, storyboardText } from "./storyboard.ts";
