export type StillFormat = "jpeg" | "png";

/** One picture that a child decodes from a keyframe and makes an image of. */
export interface StillJob {
  readonly id: number;
  readonly codec: "avc" | "hevc" | "av1";
  /** Base64 of the body of `avcC`, `hvcC` or `av1C`. */
  readonly config: string;
  /** The image fits into this, keeps its shape, and is never larger than the picture. */
  readonly maxWidth: number;
  readonly maxHeight: number;
  /** `tile` gives no image but pixels for a sheet: a `PlanarPicture` of exactly the largest size, black around the image. */
  readonly format: StillFormat | "tile";
}

/** Many tiles that a child makes one JPEG of, from left to right and from top to bottom. */
export interface SheetJob {
  readonly id: number;
  readonly columns: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
}
