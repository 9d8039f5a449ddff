export { drawPicture, loadImage } from "./picture-loader.ts";
export { fetchStoryboard, pictureAt, type StoryboardPicture } from "./storyboard.ts";
