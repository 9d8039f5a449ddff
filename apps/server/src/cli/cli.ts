import { hostname } from "node:os";
import { type Stream, WeirClient } from "@weir/client";
import type { Command } from "commander";
import { CliError, EXIT } from "./exit-codes.ts";
import { readLogin } from "./login-file.ts";
import { Printer } from "./printer.ts";
import { ProgressBar } from "./progress-bar.ts";

/** The address of the server, when neither an option nor the environment nor a login names one. */
const DEFAULT_SERVER = "http://localhost:8080";
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Options of every command. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly server?: string;
}

/** What a command works with: the server it talks to, and where it writes. */
export class Cli {
  readonly print: Printer;
  readonly progress = new ProgressBar(process.stderr);
  readonly #options: GlobalOptions;
  #client: WeirClient | null = null;

  constructor(command: Command) {
    this.#options = command.optsWithGlobals<GlobalOptions>();
    this.print = new Printer(process.stdout, this.#options.json === true);
  }

  get server(): string {
    const { server = process.env.WEIR_URL || readLogin(process.env)?.server || DEFAULT_SERVER } = this.#options;
    return originOf(server);
  }

  /** Throws `CliError` without a key for the server. */
  get client(): WeirClient {
    this.#client ??= new WeirClient({ baseUrl: this.server, apiKey: this.#apiKey() });
    return this.#client;
  }

  /** A client with the rights of a signed-in dashboard, which alone may manage keys. */
  async signedIn(): Promise<WeirClient> {
    const { server } = this;
    let cookie = "";
    const client = new WeirClient({
      baseUrl: server,
      fetch: async (url, init) => {
        const response = await fetch(url, { ...init, headers: { ...init?.headers, cookie, origin: server } });
        const [given] = response.headers.getSetCookie();
        if (given !== undefined) cookie = given.split(";")[0] ?? "";
        return response;
      },
    });
    await client.dashboard.signIn(this.#apiKey());
    return client;
  }

  /** What a person should know beside the result. */
  note(sentence: string): void {
    this.progress.clear();
    process.stderr.write(`${sentence}\n`);
  }

  /** The stream with this id, or the only one with this name. */
  async stream(idOrName: string): Promise<Stream> {
    if (ID.test(idOrName)) return this.client.streams.get(idOrName);
    const named: Stream[] = [];
    for await (const stream of this.client.streams.each({ name: idOrName, limit: 100 }))
      if (stream.name === idOrName) named.push(stream);
    const [only] = named;
    if (only && named.length === 1) return only;
    if (!only) throw new CliError(`no stream has the id or the name ${JSON.stringify(idOrName)}`, EXIT.notFound);
    const ids = named.map(({ id }) => `  ${id}`).join("\n");
    throw new CliError(
      `${named.length} streams have the name ${JSON.stringify(idOrName)}: use an id\n${ids}`,
      EXIT.usage,
    );
  }

  /** The name of this machine, in what the command makes on the server. */
  get machine(): string {
    return hostname();
  }

  #apiKey(): string {
    const { server } = this;
    if (process.env.WEIR_API_KEY) return process.env.WEIR_API_KEY;
    const login = readLogin(process.env);
    if (login === null)
      throw new CliError(`no API key for ${server}: run weir login, or set WEIR_API_KEY`, EXIT.refused);
    if (login.server === server) return login.apiKey;
    // The key of one server is not told to another.
    throw new CliError(
      `you are logged in to ${login.server}, not to ${server}: run weir login ${server}`,
      EXIT.refused,
    );
  }
}

/** `https://video.example.com`, with or without a scheme in `text`. */
export function originOf(text: string): string {
  const withScheme = text.includes("://") ? text : `${isLocal(text) ? "http" : "https"}://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new CliError(
      `${JSON.stringify(text)} is not the address of a server, such as https://video.example.com`,
      EXIT.usage,
    );
  return url.origin;
}

const isLocal = (text: string): boolean => /^(localhost|127\.|\[::1\])/.test(text);
