import type {
  Agent,
  ApproveRun,
  Author,
  Channel,
  Consent,
  ConsentChangedData,
  ConsentEvidence,
  ConsentSource,
  ConsentStatus,
  ContactSentiment,
  Conversation,
  Json,
  ListAgentRuns,
  Medium,
  Message,
  MessagingEngine,
  Metadata,
  Playbook,
  PlaybookStepInput,
  PolicyContact,
  PolicyFacts,
  PolicyMessage,
  Reply,
  ScoredMessage,
  UpdateAgent,
  UpdateContact,
  UpdatePlaybook,
  Usage,
  UsageCount,
} from "tidings";
import { expectTypeOf, test } from "vitest";

/**
 * The names of the fields, at any depth, whose lists the compiler takes only if they are mutable.
 * Signals of the platform and arbitrary JSON are left out.
 */
type MutableLists<T> = [Json] extends [T]
  ? never
  : T extends AbortSignal
    ? never
    : T extends unknown[]
      ? "a list"
      : T extends readonly (infer Item)[]
        ? MutableLists<Item>
        : T extends object
          ? { [K in keyof T]-?: [MutableLists<T[K]>] extends [never] ? never : K }[keyof T]
          : never;

/** What the methods of each of these kinds of resources take. */
type Inputs<Handle> = Handle extends unknown
  ? {
      [K in keyof Handle]: Handle[K] extends (...args: infer Given) => unknown
        ? Given[number]
        : never;
    }[keyof Handle]
  : never;

type Resource =
  | "agents"
  | "playbooks"
  | "contacts"
  | "conversations"
  | "messages"
  | "senders"
  | "webhooks"
  | "apiKeys"
  | "sandbox";

/** The compiler checks this (`npm run types`). */
test("inputs take constant lists", () => {
  expectTypeOf<MutableLists<Inputs<MessagingEngine[Resource]>>>().toBeNever();
});

test("updates take what an agent and a playbook have, so that a list can get one more item", () => {
  expectTypeOf<Pick<Agent, "handoff" | "guidelines" | "knowledge">>().toExtend<UpdateAgent>();
  expectTypeOf<Pick<Playbook, "slots" | "steps" | "trigger">>().toExtend<UpdatePlaybook>();
});

test("inputs take the ids of playbooks from a user's own table, which are strings there", () => {
  type Call<Step> = Extract<Step, { readonly type: "call" }>;
  expectTypeOf<string[]>().toExtend<UpdateAgent["playbook_ids"]>();
  expectTypeOf<string>().toExtend<Call<PlaybookStepInput>["playbook_id"]>();
  expectTypeOf<Call<Playbook["steps"][number]>["playbook_id"]>().toEqualTypeOf<`pb_${string}`>();
});

test("a function that passes on changes, filters or a decision names their type", () => {
  type Taken<Method extends (...args: never) => unknown> = Parameters<Method>[1];
  type Engine = MessagingEngine;
  expectTypeOf<Taken<Engine["contacts"]["update"]>>().toEqualTypeOf<UpdateContact>();
  expectTypeOf<Taken<Engine["conversations"]["reply"]>>().toEqualTypeOf<Reply>();
  expectTypeOf<Taken<Engine["agents"]["runs"]>>().toEqualTypeOf<ListAgentRuns | undefined>();
  expectTypeOf<Parameters<Engine["agents"]["approve"]>[2]>().toEqualTypeOf<ApproveRun>();
});

/** A function that takes one field of a resource names its type, as an editor shows it. */
test("the types of the fields that functions pass on have exported names", () => {
  expectTypeOf<Message["channel"]>().toEqualTypeOf<Channel>();
  expectTypeOf<Message["author"]>().toEqualTypeOf<Author>();
  expectTypeOf<Message["metadata"]>().toEqualTypeOf<Metadata>();
  expectTypeOf<Conversation["medium"]>().toEqualTypeOf<Medium>();
  expectTypeOf<Consent["status"]>().toEqualTypeOf<ConsentStatus>();
  expectTypeOf<Consent["evidence"][number]>().toEqualTypeOf<ConsentEvidence>();
  expectTypeOf<ConsentChangedData["source"]>().toEqualTypeOf<ConsentSource>();
  expectTypeOf<ContactSentiment["messages"][number]>().toEqualTypeOf<ScoredMessage>();
  expectTypeOf<PolicyFacts["message"]>().toEqualTypeOf<PolicyMessage>();
  expectTypeOf<PolicyFacts["contact"]>().toEqualTypeOf<PolicyContact | null>();
  expectTypeOf<Usage["data"][number]>().toEqualTypeOf<UsageCount>();
});
