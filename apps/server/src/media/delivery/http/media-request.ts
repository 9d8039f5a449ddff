import type { IncomingMessage, ServerResponse } from "node:http";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { PlaybackAddress } from "../front/access-request.ts";
import type { Admission, Refusal, Viewing } from "../front/admission.ts";
import type { GivenAdmission } from "../front/given-admission.ts";
import { HttpAccess } from "./http-access.ts";
import { type Caching, PERSONAL, SHARED } from "./media-response.ts";

/** How long an edge may serve without asking again. */
const AUTHORIZED = "private, max-age=3";

/** A protocol of playback over HTTP: its addresses and its answers. */
export interface HttpProtocol<Address extends PlaybackAddress = PlaybackAddress> {
  /** Null if the URL is not one of this protocol. */
  parse(url: string): Address | null;
  /** Answers an admitted request. */
  serve(asked: MediaRequest<Address>, admission: Admission): void | Promise<void>;
  /** Answers a refused request in a form that the protocol's players understand. */
  refuse(asked: MediaRequest<Address>, refusal: Refusal): void;
}

/** An address, and the protocol that it belongs to. */
export interface Route<Address extends PlaybackAddress = PlaybackAddress> {
  readonly address: Address;
  readonly protocol: HttpProtocol<Address>;
}

/** A request for media and its response: one object from the address to the answer. */
export class MediaRequest<Address extends PlaybackAddress = PlaybackAddress> extends HttpAccess<Address> {
  readonly res: ServerResponse;
  /** True for an edge's question: the response is 204 exactly if the viewer would get the content from this server. */
  readonly isQuestion: boolean;
  /** Until somebody is admitted, for nobody else. */
  caching: Caching = PERSONAL;
  readonly #protocol: HttpProtocol<Address>;

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    url: string,
    { address, protocol }: Route<Address>,
    proxies: TrustedProxies,
    {
      isQuestion = false,
      given = null,
    }: { readonly isQuestion?: boolean; readonly given?: GivenAdmission | null } = {},
  ) {
    super(req, url, address, proxies, given);
    this.res = res;
    this.isQuestion = isQuestion;
    this.#protocol = protocol;
  }

  /** Answers, by the request's protocol. A promise if that takes longer than this turn of the event loop; it may reject. */
  answer(admission: Admission | Refusal): void | Promise<void> {
    if (typeof admission === "string") return this.#protocol.refuse(this, admission);
    if (admission.isShared) this.caching = SHARED;
    return this.#protocol.serve(this, admission);
  }

  /**
   * Called last, when the requested content exists: counts the viewer. Null if no content is to be sent: a new viewer is refused when the stream is
   * full, an edge gets 204 instead, and a client that has left meanwhile counts as no viewer.
   */
  begin(admission: Admission): Viewing | null {
    if (this.res.destroyed) return null;
    const viewing = admission.countViewer();
    if (!viewing) this.#protocol.refuse(this, "denied");
    else if (this.isQuestion) this.grant();
    else return viewing;
    return null;
  }

  /** Tells an edge that it may answer. */
  grant(): void {
    this.res.writeHead(204, ["cache-control", AUTHORIZED]).end();
  }
}
