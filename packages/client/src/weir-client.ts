import type {
  AccessTrial,
  AccessTrialResult,
  Ingest,
  OwnerToken,
  PlaybackInfo,
  StreamEvent,
  StreamHealth,
} from "@weir/contract";
import { ApiTokens } from "./api-tokens.ts";
import { AssetCreation, type AssetFile, type CreateAssetOptions } from "./asset-creation.ts";
import { Assets } from "./assets.ts";
import { Clips } from "./clips.ts";
import { Dashboard } from "./dashboard.ts";
import { type EventOptions, readEvents } from "./events.ts";
import { call } from "./operation.ts";
import { People } from "./people.ts";
import { Projects } from "./projects.ts";
import { Sessions } from "./sessions.ts";
import { SigningKeys } from "./signing-keys.ts";
import { Streams } from "./streams.ts";
import { Targets } from "./targets.ts";
import { type CallOptions, type ClientOptions, Transport } from "./transport.ts";
import { Usage } from "./usage.ts";
import { Views } from "./views.ts";
import { Webhooks } from "./webhooks.ts";

/** A typed client of a Weir server: `new WeirClient({ baseUrl, apiKey })`. Every call throws WeirError if it fails. */
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
  readonly playback: {
    /** The playback URLs of a stream, recording or asset by its playback id. Needs no key. */
    get(playbackId: string, options?: CallOptions): Promise<PlaybackInfo>;
  };
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
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
    this.playback = {
      get: (playbackId, options = {}) =>
        call(transport, "GET /api/playback/:id", { ...options, params: { id: playbackId } }),
    };
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

  /** Ask whether a viewer with this token or access key would be admitted, and why. Admits nobody. */
  tryAccess(trial: AccessTrial, options: CallOptions = {}): Promise<AccessTrialResult> {
    return call(this.#transport, "POST /api/access-control/try", { ...options, body: trial });
  }

  /** Get a token that plays one of the project's streams or recordings for an hour, under any policy. Throws WeirError 404. */
  ownerToken(playbackId: string, options: CallOptions = {}): Promise<OwnerToken> {
    return call(this.#transport, "POST /api/access-control/owner-token", { ...options, body: { playbackId } });
  }

  /** A stream's health: conditions with their history, metrics, multistream targets. */
  health(streamId: string, options: CallOptions = {}): Promise<StreamHealth> {
    return call(this.#transport, "GET /api/data/stream/:id/health", { ...options, params: { id: streamId } });
  }

  /** A stream's events, in order, each once. The feed reconnects by itself and loses nothing. */
  events(streamId: string, options: EventOptions = {}): AsyncGenerator<StreamEvent, void> {
    return readEvents(this.#transport, streamId, options);
  }

  /** Ingest and playback base URLs: one entry per region. */
  ingest(options: CallOptions = {}): Promise<Ingest[]> {
    return call(this.#transport, "GET /api/ingest", options);
  }
}
