/** A visitor's session, as `VisitorApi` opens it. */
export interface Session {
  readonly id: string;
  readonly token: string;
  readonly contact_id: string;
  /** The address below which `v1/` is, with a final slash. */
  readonly api: string;
  /** The visitor whom the page named when the session began. */
  readonly visitor: string;
}
