import { createHash, type Hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Slices } from "../slices.ts";
import type { Coding } from "./content-coding.ts";

export interface CodedText {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly coding: Coding;
}

const PIECE = 64 * 1024;
/** About 50 ms for a playlist of 12 hours, in a worker thread. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** A text that many clients request: rendered once, compressed once per coding off the event loop, and always sent from the same bytes. */
export class SharedText {
  readonly #bytes: Uint8Array;
  readonly #hash: string;
  readonly #coded = new Map<Coding, Promise<CodedText>>();

  private constructor(bytes: Uint8Array, hash: string) {
    this.#bytes = bytes;
    this.#hash = hash;
  }

  static of(text: string): SharedText {
    const bytes = Buffer.from(text);
    return new SharedText(bytes, digestOf(createHash("sha256").update(bytes)));
  }

  /** Of pieces of ASCII, without blocking for long. */
  static async render(slices: Slices, pieces: Iterable<string>): Promise<SharedText> {
    const hash = createHash("sha256");
    const rendered: Buffer[] = [];
    let text = "";
    const flush = (): void => {
      const bytes = Buffer.from(text, "latin1");
      rendered.push(bytes);
      hash.update(bytes);
      text = "";
    };
    await slices.forEach(pieces, (piece) => {
      text += piece;
      if (text.length >= PIECE) flush();
    });
    flush();
    return new SharedText(Buffer.concat(rendered), digestOf(hash));
  }

  in(coding: Coding): Promise<CodedText> {
    const coded = this.#coded.get(coding) ?? this.#code(coding);
    this.#coded.set(coding, coded);
    return coded;
  }

  async #code(coding: Coding): Promise<CodedText> {
    if (coding === null) return { bytes: this.#bytes, etag: `"${this.#hash}"`, coding };
    const compress = () =>
      coding === "br" ? promisify(brotliCompress)(this.#bytes, BROTLI) : promisify(gzip)(this.#bytes);
    return { bytes: await compress(), etag: `"${this.#hash}-${coding}"`, coding };
  }
}

const digestOf = (hash: Hash): string => hash.digest("base64url").slice(0, 22);
