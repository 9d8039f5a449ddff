import type { PlaybackContent } from "../../../ports/index.ts";
import { type AccessRequest, tknOf } from "./access-request.ts";
import type { ViewerSession } from "./viewer-sessions.ts";

export type Refusal = "denied" | "gone" | "invalid-credential" | "too-many";

/** The token in addresses that name nobody. */
export const NOBODY = "-";

/** A request that may be answered. Find what it asks for first, then count its viewer, then answer. */
export interface Admission {
  readonly content: PlaybackContent;
  /** The address alone says who is asking, so that caches on the way may give the answer to whoever has the address. */
  readonly isShared: boolean;
  /** To be called when there is something to send. Null for somebody new where nobody new may begin: then nothing is sent. */
  countViewer(): Viewing | null;
}

/** The fields that a counted viewer's answer may need. */
export interface Viewing {
  /** For the addresses in what is sent: they lead this viewer on without credentials. */
  readonly token: string;
  /** The id that the viewer's player gave itself; null where the token names the viewer. */
  readonly playerId: string | null;
  /** Whether a long answer may go on; the viewer is counted as still there. Rejects where that cannot be found out. */
  stillAllowed(): Promise<boolean>;
}

/** The gate's answer, and the viewer it is for. */
export interface Admitted {
  readonly content: PlaybackContent;
  readonly isShared: boolean;
  /** Null for public content. */
  readonly session: ViewerSession | null;
  /** Nobody new may begin to watch. */
  readonly isFull: boolean;
}

/** The services behind all admissions. */
export interface AdmissionOffice {
  count(request: AccessRequest, admitted: Admitted): boolean;
  seal(session: ViewerSession): string;
  stillAllowed(request: AccessRequest, session: ViewerSession | null): Promise<boolean>;
}

/** One object in both roles: a segment costs no more than that. */
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
