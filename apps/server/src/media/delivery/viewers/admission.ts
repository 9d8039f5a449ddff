import type { PlaybackContent } from "../../../ports/index.ts";
import { type AccessRequest, tknOf } from "./access-request.ts";
import type { ViewerSession } from "./viewer-sessions.ts";

export type Refusal = "denied" | "gone" | "invalid-credential" | "too-many";

/** The token in URLs without a viewer session. */
export const NOBODY = "-";

/** An allowed request. First find the requested content, then count the viewer, then respond. */
export interface Admission {
  readonly content: PlaybackContent;
  /** Only the URL identifies the viewer, so caches may serve the response to everyone who has the URL. */
  readonly isShared: boolean;
  /** Call when there is content to send. Null for a new viewer when the stream is full; then nothing is sent. */
  countViewer(): Viewing | null;
}

/** A counted viewer, as far as responses need it. */
export interface Viewing {
  /** The token for the URLs in the response, which work without credentials. */
  readonly token: string;
  /** The id that the player assigned to itself; null if the token identifies the viewer. */
  readonly playerId: string | null;
  /** Whether a long response may continue; the viewer is counted as present. Rejects if this cannot be determined. */
  stillAllowed(): Promise<boolean>;
}

/** The gate's decision and its viewer session. */
export interface Admitted {
  readonly content: PlaybackContent;
  readonly isShared: boolean;
  /** Null for public content. */
  readonly session: ViewerSession | null;
  /** True if no new viewers are admitted. */
  readonly isFull: boolean;
}

/** The services behind all admissions. */
export interface AdmissionOffice {
  count(request: AccessRequest, admitted: Admitted): boolean;
  seal(session: ViewerSession): string;
  stillAllowed(request: AccessRequest, session: ViewerSession | null): Promise<boolean>;
}

/** One object in both roles, to save an allocation per segment. */
export class RequestAdmission implements Admission, Viewing {
  readonly #office: AdmissionOffice;
  readonly #request: AccessRequest;
  readonly #admitted: Admitted;
  #token: string | null = null;

  constructor(office: AdmissionOffice, request: AccessRequest, admitted: Admitted) {
    this.#office = office;
    this.#request = request;
    this.#admitted = admitted;
  }

  get content(): PlaybackContent {
    return this.#admitted.content;
  }

  get isShared(): boolean {
    return this.#admitted.isShared;
  }

  get token(): string {
    const { session } = this.#admitted;
    this.#token ??= session ? this.#office.seal(session) : NOBODY;
    return this.#token;
  }

  get playerId(): string | null {
    return this.#admitted.session ? null : tknOf(this.#request.url);
  }

  countViewer(): Viewing | null {
    return this.#office.count(this.#request, this.#admitted) ? this : null;
  }

  stillAllowed(): Promise<boolean> {
    return this.#office.stillAllowed(this.#request, this.#admitted.session);
  }
}
