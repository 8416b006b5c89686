/** Batches of messages: the input and the results. */
import * as z from "zod";
import {
  documentedAs,
  fieldErrorSchema,
  readonlyList,
  type FieldError,
  type Limits,
} from "../../kernel/index.ts";
import { batchMessageSchema, type BatchMessage } from "../input-types.ts";
import { messageSchema, type Message } from "../types.ts";

/**
 * Messages to send. Each succeeds or fails by itself. While messages of the account wait, single
 * ones go before those of a batch.
 */
export interface BatchMessages {
  /**
   * The messages, by default at most 1,000. Each is validated by itself, so that an invalid one
   * does not affect the others.
   */
  readonly messages: readonly BatchMessage[];
}

export const batchMessagesSchema = (limits: Limits) =>
  z
    .strictObject({
      messages: readonlyList(
        z
          .array(documentedAs(batchMessageSchema(limits)))
          .min(1)
          .max(limits.batchItems),
      ),
    })
    .meta({ id: "BatchMessages" });

/** A message of a batch that was queued or scheduled. */
export interface BatchSuccess {
  /** True: the message was queued or scheduled. */
  readonly ok: true;
  /** The position of the message in the batch, from 0. */
  readonly index: number;
  /** The new message. */
  readonly message: Message;
}

export const batchSuccessSchema = z
  .strictObject({
    ok: z.literal(true),
    index: z.int(),
    message: messageSchema,
  })
  .meta({ id: "BatchSuccess" });

/** A message of a batch that was not stored, with the error that `messages.send` would throw. */
export interface BatchFailure {
  /** False: the message was not stored. */
  readonly ok: false;
  /** The position of the message in the batch, from 0. */
  readonly index: number;
  /** A stable code of the error. */
  readonly code: string;
  /** The HTTP status that the error has when the message is sent alone. */
  readonly status: number;
  /** An explanation of the error. */
  readonly detail: string;
  /** The invalid fields, at most 20. Pointers are relative to the message. */
  readonly errors: FieldError[];
}

export const batchFailureSchema = z
  .strictObject({
    ok: z.literal(false),
    index: z.int(),
    code: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z.array(fieldErrorSchema),
  })
  .meta({ id: "BatchFailure" });

/** The result of one message of a batch. */
export type BatchResult = BatchSuccess | BatchFailure;

export const batchResultSchema = z
  .discriminatedUnion("ok", [batchSuccessSchema, batchFailureSchema])
  .meta({ id: "BatchResult" });

/** The results of a batch. */
export interface BatchResults {
  /** One result for each message, in the order of the request. */
  readonly data: BatchResult[];
}

export const batchResultsSchema = z
  .strictObject({
    data: z.array(batchResultSchema),
  })
  .meta({ id: "BatchResults" });
