import { buffer } from "node:stream/consumers";
import { Turns } from "../../platform/limits/turns.ts";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import type { MediaIndex } from "../../ports/index.ts";
import type { StoredMedia } from "../stored/stored-media.ts";
import { blackPicture, planarBytes } from "../transcode/index.ts";
import { KeptStills } from "./kept-stills.ts";
import type { StillMaker, StillMakerSettings } from "./still-maker.ts";
import { findKeyframe, readKeyframe } from "./stored-keyframes.ts";
import { SHEET, type Storyboard, sheetsOf } from "./storyboard.ts";

/** A client waits this long for a sheet. */
const ANSWER_MS = 20_000;

/** Sheets are made one at a time: each takes about 2 MB and one second. */
const TURNS = { atATime: 1, maxWaiting: 16 } as const;
/** After this many undecodable pictures the rest of a sheet stays black, since each may have crashed a child. */
const MAX_FAULTS = 3;

export interface Sheet {
  readonly image: Uint8Array;
  readonly byteLength: number;
  /** False if a missing picture might be available later. */
  readonly isWhole: boolean;
}

export interface StoredSheetsSettings extends Pick<StillMakerSettings, "clock" | "log"> {
  readonly maker: Pick<StillMaker, "make" | "sheet">;
  readonly store: Pick<ObjectStore, "read" | "put">;
}

/** The sheets of storyboards. Each is made from keyframes on first request, and stored with the media, with which it is deleted. */
export class StoredSheets {
  readonly #settings: StoredSheetsSettings;
  readonly #kept: KeptStills<Sheet>;
  readonly #turns = new Turns(TURNS);

  constructor(settings: StoredSheetsSettings) {
    this.#settings = settings;
    this.#kept = new KeptStills(settings.clock, ANSWER_MS);
  }

  /** Null if there is no such sheet. Rejects with `TooManyWaiting`. */
  async get(media: StoredMedia, board: Storyboard, nth: number): Promise<Sheet | null> {
    if (nth >= sheetsOf(board)) return null;
    const key = keyOf(media.index, board, nth);
    return this.#kept.get(key, Number.POSITIVE_INFINITY, async () => {
      const stored = await this.#read(key);
      return stored ?? this.#turns.run(() => this.#make(media, board, nth, key));
    });
  }

  async #read(key: string): Promise<Sheet | null> {
    try {
      return sheetOf(await buffer(await this.#settings.store.read(key)), true);
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
  }

  async #make(media: StoredMedia, board: Storyboard, nth: number, key: string): Promise<Sheet | null> {
    const { maker, store, log } = this.#settings;
    const { tiles, faults } = await this.#tiles(media, board, nth);
    const shape = { columns: SHEET.columns, tileWidth: board.tile.width, tileHeight: board.tile.height };
    const image = await maker.sheet(shape, tiles);
    if (!image) return null;
    // A sheet with a missing picture is not stored: its child may have been killed, and after a restart it may be complete.
    if (faults === 0)
      await store
        .put(key, image)
        .catch((error: unknown) => log.warn({ err: error, key }, "could not store a storyboard sheet"));
    return sheetOf(image, faults === 0);
  }

  /** The tiles, concatenated; black where none can be made. */
  async #tiles(
    media: StoredMedia,
    { starts, tile }: Storyboard,
    nth: number,
  ): Promise<{ readonly tiles: Uint8Array; readonly faults: number }> {
    const { maker } = this.#settings;
    const shown = starts.slice(nth * SHEET.tiles, (nth + 1) * SHEET.tiles);
    const tileBytes = planarBytes(tile.width, tile.height);
    const black = blackPicture(tile.width, tile.height).bytes;
    const tiles = Buffer.concat(shown.map(() => black));
    const shape = { maxWidth: tile.width, maxHeight: tile.height, format: "tile" } as const;
    let faults = 0;
    for (const [place, seconds] of shown.entries()) {
      if (faults === MAX_FAULTS) break;
      const found = findKeyframe(media.index, seconds, tile.width);
      const keyframe = found && (await readKeyframe(media, found));
      const pixels = keyframe && (await maker.make(keyframe, shape));
      if (pixels?.byteLength === tileBytes) tiles.set(pixels, place * tileBytes);
      else faults++;
    }
    return { tiles, faults };
  }
}

function sheetOf(image: Uint8Array, isWhole: boolean): Sheet {
  return { image, byteLength: image.byteLength, isWhole };
}

/** The key contains the layout, so that a different layout is a different object. */
function keyOf({ keyPrefix }: MediaIndex, { starts, tile: { width, height } }: Storyboard, nth: number): string {
  return `${keyPrefix}storyboard/${width}x${height}-${starts.length}/${nth}.jpg`;
}
