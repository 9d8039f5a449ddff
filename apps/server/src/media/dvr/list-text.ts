import { createHash } from "node:crypto";
import { crc32, deflateRawSync } from "node:zlib";
import type { CodedText } from "../../platform/http/shared-text.ts";
import { type ListPiece, pieceOf } from "./segment-block.ts";

/** RFC 1952 2.3: DEFLATE, no time, unknown system. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** A playlist that is put together of pieces which were compressed before. Written out when it is first asked for in a coding. */
export class ListText {
  readonly #pieces: readonly ListPiece[];
  readonly #end: string;
  #plain: CodedText | null = null;
  #gzip: CodedText | null = null;

  private constructor(pieces: readonly ListPiece[], end: string) {
    this.#pieces = pieces;
    this.#end = end;
  }

  /** ASCII. `pieces` come between the head and the end. */
  static of(head: string, pieces: Iterable<ListPiece>, end: string): ListText {
    return new ListText([pieceOf([Buffer.from(head, "latin1")]), ...pieces], end);
  }

  in(coding: "gzip" | null): CodedText {
    if (coding === null) {
      this.#plain ??= this.#coded(this.#bytes(), null);
      return this.#plain;
    }
    this.#gzip ??= this.#coded(this.#compressed(), coding);
    return this.#gzip;
  }

  #bytes(): Buffer {
    return Buffer.concat([...this.#pieces.flatMap(({ texts }) => texts), Buffer.from(this.#end, "latin1")]);
  }

  #compressed(): Buffer {
    const end = Buffer.from(this.#end, "latin1");
    const trailer = Buffer.alloc(8);
    let [crc, size] = [0, 0];
    for (const bytes of [...this.#pieces.flatMap(({ texts }) => texts), end]) {
      crc = crc32(bytes, crc);
      size += bytes.byteLength;
    }
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(size, 4);
    return Buffer.concat([GZIP_HEAD, ...this.#pieces.map(({ deflated }) => deflated), deflateRawSync(end), trailer]);
  }

  #coded(bytes: Buffer, coding: "gzip" | null): CodedText {
    const etag = `"${createHash("sha1").update(bytes).digest("base64url").slice(0, 22)}"`;
    return { bytes, etag, coding };
  }
}
