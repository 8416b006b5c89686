import type {
  Command,
  Context,
  EventStream,
  Outcome,
  Procedure,
  Query,
  RowProcedure,
  StreamEvent,
} from "../operations/index.ts";
import type { GenerateId, Limits } from "../kernel/index.ts";
import type { Admission, CallbackRequest, CallbackResult, Logger } from "../ports/index.ts";
import type { Authenticated } from "../accounts/index.ts";
import type { Visitor } from "../webchat/index.ts";

/**
 * The engine as the HTTP API uses it. Inputs are already parsed. Every method may throw
 * `TidingsError`.
 */
export interface ApiBackend {
  readonly drawId: GenerateId;
  readonly limits: Limits;
  readonly logger: Logger;
  /** @throws TidingsError `invalid_api_key`, `expired_api_key` */
  authenticate(secret: string): Promise<Authenticated>;
  admit(key: Authenticated): Promise<Admission>;
  /** @throws TidingsError `invalid_visitor_token`, `expired_visitor_token`, `not_found` */
  authenticateVisitor(session_id: string, token: string): Promise<Visitor>;
  admitVisitor(visitor: Visitor): Promise<Admission>;
  /** The origins whose pages may call the visitor routes. */
  readonly origins: readonly string[];
  execute<Input, Output>(
    command: Command<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Outcome<Output>>;
  run<Input, Output>(
    procedure: Procedure<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Outcome<Output>>;
  rows<Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: AsyncIterable<unknown>,
    context: Context,
  ): Promise<AsyncGenerator<Report, Total>>;
  query<Input, Output>(
    query: Query<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Output>;
  /**
   * Opens a stream. Input errors are thrown before the first event. The stream ends when `signal`
   * aborts.
   */
  stream<Input>(
    stream: EventStream<Input>,
    input: Input,
    context: Context,
    signal: AbortSignal,
  ): Promise<AsyncIterable<StreamEvent>>;
  /** @throws TidingsError `not_found` when no transport of that name accepts callbacks */
  callback(
    transport: string,
    request: Omit<CallbackRequest, "received_at">,
  ): Promise<CallbackResult["response"]>;
  /**
   * Resolves when the storage responds.
   * @throws TidingsError `storage_unavailable`, `shutting_down`
   */
  health(): Promise<void>;
}
