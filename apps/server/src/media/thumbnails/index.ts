export { PreviewMaker } from "./preview-maker.ts";
export { type ImageShape, type Keyframe, StillMaker } from "./still-maker.ts";
export { KEYFRAME_SHAPE, Stills } from "./stills.ts";
export { keyframeIn } from "./stored-keyframes.ts";
export { type PreviewShape, StoredPreviews } from "./stored-previews.ts";
export { StoredSheets } from "./stored-sheets.ts";
export {
  type Moment,
  momentsApart,
  momentsText,
  type StoryboardCues,
  storyboardOf,
  storyboardText,
} from "./storyboard.ts";
