import type { Page, Scope } from "../kernel/index.ts";
import {
  createWebhook,
  type Event,
  getDelivery,
  getWebhook,
  listDeliveries,
  listWebhooks,
  recoverWebhook,
  redeliver,
  removeWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "../webhooks/index.ts";
import type { AccountHandle, CommandOptions } from "./handles.ts";
import {
  addNote,
  getConversation,
  labelConversation,
  listContactConversations,
  listConversations,
  listNotes,
  openConversation,
  markConversationRead,
  updateConversation,
} from "../conversations/index.ts";
import { addObservation, listObservations, removeObservation } from "../observations/index.ts";
import {
  approveRun,
  assignConversation,
  createAgent,
  createPlaybook,
  getAgent,
  getPlaybook,
  getRun,
  handBackConversation,
  handOffConversation,
  listAgents,
  listPlaybooks,
  listRuns,
  removeAgent,
  removePlaybook,
  triggerAgent,
  updateAgent,
  updatePlaybook,
} from "../agents/index.ts";
import {
  cancelMessage,
  editMessage,
  getMessage,
  getTimeline,
  listContactMessages,
  listConversationMessages,
  listMessages,
  previewMessage,
  reply,
  sendBatch,
  sendMessage,
} from "../messages/index.ts";
import {
  createContact,
  getContact,
  importContactRows,
  listContacts,
  searchContacts,
  updateContact,
} from "../contacts/index.ts";
import {
  createKey,
  getAccount,
  getUsage,
  listKeys,
  revokeKey,
  rotateKey,
} from "../accounts/index.ts";
import {
  createSandboxEvent,
  listSandboxNumbers,
  receiveSandboxMessage,
  receiveSandboxReceipts,
  resetSandbox,
  seedSandbox,
  testWebhook,
} from "../sandbox/index.ts";
import { createSender, listSenders, removeSender, updateSender } from "../senders/index.ts";
import { changeConsent, getConsents } from "../consents/index.ts";
import { getContactSentiment } from "../sentiment/index.ts";
import { openWebchatSession } from "../webchat/index.ts";
import { eraseContact, mergeContacts, redactMessage } from "../privacy/index.ts";
import { getEvent, listEvents } from "../events/index.ts";
import type { Command, Procedure, Query, RowProcedure } from "../operations/index.ts";

/** How a handle runs operations on the engine. The engine parses the inputs. */
export interface Run {
  readonly change: <Input, Output>(
    operation: Command<Input, Output> | Procedure<Input, Output>,
    input: unknown,
    options: CommandOptions | undefined,
  ) => Promise<Output>;
  readonly read: <Input, Output>(query: Query<Input, Output>, input: unknown) => Promise<Output>;
  readonly rows: <Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
  ) => AsyncGenerator<Report, Total>;
}

export function accountHandle(scope: Scope, { change, read, rows }: Run): AccountHandle {
  return {
    scope,
    messages: {
      send: (input, options) => change(sendMessage, input, options),
      batch: (input, options) => change(sendBatch, input, options),
      preview: (input) => change(previewMessage, input, undefined),
      get: (id) => read(getMessage, { id }),
      list: (filters = {}) => read(listMessages, filters),
      timeline: (id) => read(getTimeline, { id }),
      edit: (id, changes, options) => change(editMessage, { ...changes, id }, options),
      cancel: (id, options) => change(cancelMessage, { id }, options),
      redact: (id, options) => change(redactMessage, { id }, options),
    },
    contacts: {
      search: (query) => read(searchContacts, query),
      import: (contacts) => rows(importContactRows, contacts),
      create: (input, options) => change(createContact, input, options),
      get: (id) => read(getContact, { id }),
      list: (filters = {}) => read(listContacts, filters),
      update: (id, changes, options) => change(updateContact, { ...changes, id }, options),
      merge: (id, contact_id, options) => change(mergeContacts, { id, contact_id }, options),
      erase: (id, options) => change(eraseContact, { id }, options),
      conversations: (id, page = {}) => read(listContactConversations, { ...page, id }),
      messages: (id, page = {}) => read(listContactMessages, { ...page, id }),
      observations: (id, page = {}) => read(listObservations, { ...page, id }),
      addObservation: (id, input, options) => change(addObservation, { ...input, id }, options),
      removeObservation: (id, observation_id, options) =>
        change(removeObservation, { id, observation_id }, options),
      consents: (id) => read(getConsents, { id }),
      setConsent: (id, medium, asked, options) =>
        change(changeConsent, { ...asked, id, medium }, options),
      sentiment: (id) => read(getContactSentiment, { id }),
    },
    conversations: {
      open: (input, options) => change(openConversation, input, options),
      get: (id) => read(getConversation, { id }),
      list: (filters = {}) => read(listConversations, filters),
      update: (id, changes, options) => change(updateConversation, { ...changes, id }, options),
      messages: (id, page = {}) => read(listConversationMessages, { ...page, id }),
      reply: (id, input, options) => change(reply, { ...input, id }, options),
      notes: (id, page = {}) => read(listNotes, { ...page, id }),
      addNote: (id, input, options) => change(addNote, { ...input, id }, options),
      assign: (id, assignee, options) => change(assignConversation, { id, assignee }, options),
      setLabels: (id, labels, options) => change(labelConversation, { id, labels }, options),
      markRead: (id, options) => change(markConversationRead, { id }, options),
      handOff: (id, input, options) => change(handOffConversation, { ...input, id }, options),
      handBack: (id, options) => change(handBackConversation, { id }, options),
    },
    apiKeys: {
      create: (input, options) => change(createKey, input, options),
      list: (page = {}) => read(listKeys, page),
      rotate: (id, input = {}, options) => change(rotateKey, { ...input, id }, options),
      revoke: (id, options) => change(revokeKey, { id }, options),
    },
    webchat: {
      open: (input = {}, options) => change(openWebchatSession, input, options),
    },
    senders: {
      create: (input, options) => change(createSender, input, options),
      list: (page = {}) => read(listSenders, page),
      update: (id, changes, options) => change(updateSender, { ...changes, id }, options),
      remove: (id, options) => change(removeSender, { id }, options),
    },
    events: {
      // The cast is safe: only `appendEvent` writes events, with the data of their type.
      get: (id) => read(getEvent, { id }) as Promise<Event>,
      list: (filters = {}) => read(listEvents, filters) as Promise<Page<Event>>,
    },
    webhooks: {
      create: (input, options) => change(createWebhook, input, options),
      get: (id) => read(getWebhook, { id }),
      list: (page = {}) => read(listWebhooks, page),
      update: (id, changes, options) => change(updateWebhook, { ...changes, id }, options),
      remove: (id, options) => change(removeWebhook, { id }, options),
      rotateSecret: (id, input = {}, options) =>
        change(rotateWebhookSecret, { ...input, id }, options),
      test: (id, input = {}, options) => change(testWebhook, { ...input, id }, options),
      deliveries: (id, filters = {}) => read(listDeliveries, { ...filters, id }),
      delivery: (id, delivery_id) => read(getDelivery, { id, delivery_id }),
      redeliver: (id, delivery_id, options) => change(redeliver, { id, delivery_id }, options),
      recover: (id, input, options) => change(recoverWebhook, { ...input, id }, options),
    },
    agents: {
      create: (input, options) => change(createAgent, input, options),
      get: (id) => read(getAgent, { id }),
      list: (page = {}) => read(listAgents, page),
      update: (id, changes, options) => change(updateAgent, { ...changes, id }, options),
      remove: (id, options) => change(removeAgent, { id }, options),
      trigger: (id, input, options) => change(triggerAgent, { ...input, id }, options),
      runs: (id, filters = {}) => read(listRuns, { ...filters, id }),
      run: (id, run_id) => read(getRun, { id, run_id }),
      approve: (id, run_id, decision, options) =>
        change(approveRun, { ...decision, id, run_id }, options),
    },
    playbooks: {
      create: (input, options) => change(createPlaybook, input, options),
      get: (id) => read(getPlaybook, { id }),
      list: (page = {}) => read(listPlaybooks, page),
      update: (id, changes, options) => change(updatePlaybook, { ...changes, id }, options),
      remove: (id, options) => change(removePlaybook, { id }, options),
    },
    sandbox: {
      numbers: () => read(listSandboxNumbers, {}),
      inbound: (input, options) => change(receiveSandboxMessage, input, options),
      receipts: (id, receipts, options) =>
        change(receiveSandboxReceipts, { id, receipts }, options),
      event: (input, options) => change(createSandboxEvent, input, options),
      seed: (options) => change(seedSandbox, {}, options),
      reset: (options) => change(resetSandbox, {}, options),
    },
    get: () => read(getAccount, {}),
    usage: (days = {}) => read(getUsage, days),
  };
}
