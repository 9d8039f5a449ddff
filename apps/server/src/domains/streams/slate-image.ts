import { BadRequest } from "../api/index.ts";
import type { Trx } from "../schema.ts";

/** Files of these kinds begin with these bytes. */
const KINDS = [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from([0xff, 0xd8, 0xff])] as const;
const MAX_BYTES = 512 * 1024;

/** Of a request, in base64. The decoder is the one to say whether it is whole. */
export function readSlateImage(text: string): Buffer {
  const image = Buffer.from(text, "base64");
  const isWhole = image.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "");
  if (!isWhole || !KINDS.some((kind) => kind.equals(image.subarray(0, kind.length))))
    throw new BadRequest("image must be a PNG or JPEG in base64");
  if (image.byteLength > MAX_BYTES) throw new BadRequest(`image must have at most ${MAX_BYTES / 1024} KB`);
  return image;
}

/** Null takes it away. */
export async function saveSlateImage(trx: Trx, streamId: string, image: Buffer | null): Promise<void> {
  if (image === null) {
    await trx.deleteFrom("slate_image").where("stream_id", "=", streamId).execute();
    return;
  }
  await trx
    .insertInto("slate_image")
    .values({ stream_id: streamId, image })
    .onConflict((conflict) => conflict.column("stream_id").doUpdateSet({ image }))
    .execute();
}
