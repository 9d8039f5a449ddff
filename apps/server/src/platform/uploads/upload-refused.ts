/** A deliberate error response to an upload. The message is for the uploader. */
export class UploadRefused extends Error {
  readonly status: number;
  /** The same, as the protocol library reads it. */
  readonly status_code: number;
  readonly body: string;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
    this.status_code = status;
    this.body = JSON.stringify({ errors: [message] });
  }
}
