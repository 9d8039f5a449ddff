export * from "./media-playlist.ts";
export * from "./multivariant-playlist.ts";
