import type { AccessTrial, AccessTrialResult, Ingest, PlaybackInfo, StreamEvent, StreamHealth } from "@weir/contract";
import { ApiTokens } from "./api-tokens.ts";
import { Dashboard } from "./dashboard.ts";
import { type EventOptions, readEvents } from "./events.ts";
import { People } from "./people.ts";
import { Sessions } from "./sessions.ts";
import { SigningKeys } from "./signing-keys.ts";
import { Streams } from "./streams.ts";
import { type CallOptions, type ClientOptions, Transport } from "./transport.ts";
import { Views } from "./views.ts";
import { Webhooks } from "./webhooks.ts";

/** A Weir server, typed: `new WeirClient({ baseUrl, apiKey })`. Every call throws WeirError when it does not succeed. */
export class WeirClient {
  readonly streams: Streams;
  readonly sessions: Sessions;
  readonly apiTokens: ApiTokens;
  readonly signingKeys: SigningKeys;
  readonly webhooks: Webhooks;
  readonly views: Views;
  readonly dashboard: Dashboard;
  readonly people: People;
  readonly playback: {
    /** How to watch a stream or a recording by its playback id. Needs no key. */
    get(playbackId: string, call?: CallOptions): Promise<PlaybackInfo>;
  };
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.streams = new Streams(transport);
    this.sessions = new Sessions(transport);
    this.apiTokens = new ApiTokens(transport);
    this.signingKeys = new SigningKeys(transport);
    this.webhooks = new Webhooks(transport);
    this.views = new Views(transport);
    this.dashboard = new Dashboard(transport);
    this.people = new People(transport);
    this.playback = {
      get: (playbackId, call = {}) => transport.json("GET", `/api/playback/${encodeURIComponent(playbackId)}`, call),
    };
  }

  /** What a viewer with this token or access key would be told, and why. Lets nobody in. */
  tryAccess(trial: AccessTrial, call: CallOptions = {}): Promise<AccessTrialResult> {
    return this.#transport.json("POST", "/api/access-control/try", { ...call, body: trial });
  }

  /** How a stream is: conditions with their history, metrics, multistream targets. */
  health(streamId: string, call: CallOptions = {}): Promise<StreamHealth> {
    return this.#transport.json("GET", `/api/data/stream/${encodeURIComponent(streamId)}/health`, call);
  }

  /** The events of a stream, in order, none twice and none lost: goes on by itself where the connection is lost. */
  events(streamId: string, options: EventOptions = {}): AsyncGenerator<StreamEvent, void> {
    return readEvents(this.#transport, streamId, options);
  }

  /** Where to publish to and to watch from: one entry per region. */
  ingest(call: CallOptions = {}): Promise<Ingest[]> {
    return this.#transport.json("GET", "/api/ingest", call);
  }
}
