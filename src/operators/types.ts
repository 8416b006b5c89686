/** Operators: the people of the host application who work on conversations. */
import * as z from "zod";
import { name, timestamp, webUrl } from "../kernel/index.ts";

/**
 * The id that the host application uses for one of its people. It is a segment of a URL's path.
 * HTTP clients remove the segments `.` and `..`, also when they are percent-encoded.
 */
export const operatorId = name(200)
  .refine((id) => id !== "." && id !== "..", {
    error: "must not be . or .., which cannot be a part of a URL's path",
  })
  .meta({ pattern: String.raw`^(?!\.\.?$)[\s\S]*\S` });

/**
 * A person of the host application who works on conversations. Assignees, authors of replies and
 * authors of notes with the same id are this person.
 */
export interface Operator {
  /** The host application's id of the person. */
  readonly id: string;
  /** The name that colleagues and webchat visitors see. */
  readonly name: string;
  /** The URL of a picture. Null if there is none. */
  readonly avatar_url: string | null;
  /** When the operator was added. */
  readonly created_at: string;
  /** When the operator last changed. */
  readonly updated_at: string;
}

export const operatorSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    avatar_url: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Operator" });

/** An operator to add, or the new data of one. */
export interface SaveOperator {
  /** The name that colleagues and webchat visitors see, at most 200 characters. */
  readonly name: string;
  /** The http or https URL of a picture. By default there is none. */
  readonly avatar_url?: string | null | undefined;
}

export const saveOperatorSchema = z
  .strictObject({
    name: name(200),
    avatar_url: webUrl.nullable().optional(),
  })
  .meta({ id: "SaveOperator" });
