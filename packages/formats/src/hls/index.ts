export * from "./media-playlist.ts";
export * from "./multivariant-playlist.ts";
export { readPlaylist, type SourceKey, type SourceMap, type SourceMedia, type SourceSegment } from "./read-playlist.ts";
