import { AccessControl } from "./access-control.ts";
import { Accounts } from "./account.ts";
import { ApiTokens } from "./api-tokens.ts";
import { AssetCreation, type AssetFile, type CreateAssetOptions } from "./asset-creation.ts";
import { Assets } from "./assets.ts";
import { Clips } from "./clips.ts";
import { Dashboard } from "./dashboard.ts";
import { Ingests } from "./ingests.ts";
import { People } from "./people.ts";
import { Playback } from "./playback.ts";
import { Projects } from "./projects.ts";
import { Sessions } from "./sessions.ts";
import { SigningKeys } from "./signing-keys.ts";
import { Streams } from "./streams.ts";
import { Targets } from "./targets.ts";
import { Tasks } from "./tasks.ts";
import { type ClientOptions, Transport } from "./transport.ts";
import { Usage } from "./usage.ts";
import { Views } from "./views.ts";
import { Webhooks } from "./webhooks.ts";

/**
 * A typed client of a Weir server, with the API by noun. Every call throws WeirError if it fails.
 *
 * @example
 * const client = new WeirClient({ baseUrl, apiKey });
 * const stream = await client.streams.create({ name: "stage", record: true });
 * console.log(stream.streamKey, stream.playbackId);
 * for await (const { name } of client.streams.each()) console.log(name);
 */
export class WeirClient {
  readonly streams: Streams;
  readonly sessions: Sessions;
  readonly assets: Assets;
  readonly apiTokens: ApiTokens;
  readonly signingKeys: SigningKeys;
  readonly webhooks: Webhooks;
  /** Multistream targets. */
  readonly targets: Targets;
  readonly views: Views;
  /** Clips of streams, recordings and assets. */
  readonly clips: Clips;
  /** Minutes transcoded, delivered and stored. */
  readonly usage: Usage;
  readonly dashboard: Dashboard;
  readonly people: People;
  readonly projects: Projects;
  readonly playback: Playback;
  /** Signing keys aside: whom a policy admits, and tokens for owners. */
  readonly access: AccessControl;
  readonly account: Accounts;
  /** Where to publish to and play from. */
  readonly ingest: Ingests;
  /** The work behind assets and transcodes. */
  readonly tasks: Tasks;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.#options = options;
    this.streams = new Streams(transport);
    this.sessions = new Sessions(transport);
    this.assets = new Assets(transport);
    this.apiTokens = new ApiTokens(transport);
    this.signingKeys = new SigningKeys(transport);
    this.webhooks = new Webhooks(transport);
    this.targets = new Targets(transport);
    this.views = new Views(transport);
    this.clips = new Clips(transport);
    this.usage = new Usage(transport);
    this.dashboard = new Dashboard(transport);
    this.people = new People(transport);
    this.projects = new Projects(transport);
    this.playback = new Playback(transport);
    this.access = new AccessControl(transport);
    this.account = new Accounts(transport);
    this.ingest = new Ingests(transport);
    this.tasks = new Tasks(transport);
  }

  /**
   * Upload files, one asset for each. Starts at once and returns an object that reports the progress of each source, can pause, and has a
   * promise of the assets. An upload that was interrupted, by a lost connection or a reload of the page, continues.
   */
  createAsset(
    { sources }: { readonly sources: readonly AssetFile[] },
    options: CreateAssetOptions = {},
  ): AssetCreation {
    return new AssetCreation({ assets: this.assets, client: this.#options }, sources, options);
  }
}
