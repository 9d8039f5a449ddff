import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UploadMemory } from "@weir/client";
import { configFolder } from "./login-file.ts";

/** The server keeps an upload for a day, so that of these only the newest can be of use. */
const MAX_NOTES = 100;

type Env = Readonly<Record<string, string | undefined>>;

/** Where uploads of this user were interrupted, so that the next command continues them. Their addresses contain tokens: nobody else may read them. */
export class UploadNotes implements UploadMemory {
  readonly #folder: string;
  readonly #path: string;

  constructor(env: Env) {
    this.#folder = configFolder(env);
    this.#path = join(this.#folder, "uploads.json");
  }

  getItem(key: string): string | null {
    return this.#read()[key] ?? null;
  }

  setItem(key: string, value: string): void {
    const { [key]: _, ...others } = this.#read();
    this.#write({ ...others, [key]: value });
  }

  removeItem(key: string): void {
    const { [key]: known, ...others } = this.#read();
    if (known !== undefined) this.#write(others);
  }

  #read(): Readonly<Record<string, string>> {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8")) as Record<string, string>;
    } catch {
      // None yet, or damaged: the upload begins anew.
      return {};
    }
  }

  #write(notes: Readonly<Record<string, string>>): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const unfinished = `${this.#path}.${process.pid}`;
    const newest = Object.fromEntries(Object.entries(notes).slice(-MAX_NOTES));
    writeFileSync(unfinished, JSON.stringify(newest), { mode: 0o600 });
    renameSync(unfinished, this.#path);
  }
}
