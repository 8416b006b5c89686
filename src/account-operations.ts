import type { AccountHandle, CommandOptions } from "./account-handle.ts";
import { addNote } from "./commands/add-note.ts";
import { addObservation } from "./commands/add-observation.ts";
import { approveRun } from "./commands/approve-run.ts";
import { assignConversation } from "./commands/assign-conversation.ts";
import { cancelMessage } from "./commands/cancel-message.ts";
import { createAgent } from "./commands/create-agent.ts";
import { createContact } from "./commands/create-contact.ts";
import { createKey } from "./commands/create-key.ts";
import { createPlaybook } from "./commands/create-playbook.ts";
import { createSandboxEvent } from "./commands/create-sandbox-event.ts";
import { createSender } from "./commands/create-sender.ts";
import { createWebhook } from "./commands/create-webhook.ts";
import { editMessage } from "./commands/edit-message.ts";
import { getConsents } from "./commands/get-consents.ts";
import { getContactSentiment } from "./commands/get-contact-sentiment.ts";
import { getContact } from "./commands/get-contact.ts";
import { getConversation } from "./commands/get-conversation.ts";
import { getRun } from "./commands/get-run.ts";
import { handBackConversation } from "./commands/hand-back-conversation.ts";
import { handOffConversation } from "./commands/hand-off-conversation.ts";
import { labelConversation } from "./commands/label-conversation.ts";
import { listContactConversations } from "./commands/list-contact-conversations.ts";
import { listContactMessages } from "./commands/list-contact-messages.ts";
import { listContacts } from "./commands/list-contacts.ts";
import { listConversationMessages } from "./commands/list-conversation-messages.ts";
import { listConversations } from "./commands/list-conversations.ts";
import { listNotes } from "./commands/list-notes.ts";
import { listObservations } from "./commands/list-observations.ts";
import { listRuns } from "./commands/list-runs.ts";
import { openConversation } from "./commands/open-conversation.ts";
import { openWebchatSession } from "./commands/open-webchat-session.ts";
import { previewMessage } from "./commands/preview-message.ts";
import { readConversation } from "./commands/read-conversation.ts";
import { receiveSandboxMessage } from "./commands/receive-sandbox-message.ts";
import { receiveSandboxReceipts } from "./commands/receive-sandbox-receipts.ts";
import { recoverWebhook } from "./commands/recover-webhook.ts";
import { redactMessage } from "./commands/redact-message.ts";
import { redeliver } from "./commands/redeliver.ts";
import { removeAgent } from "./commands/remove-agent.ts";
import { removeObservation } from "./commands/remove-observation.ts";
import { removePlaybook } from "./commands/remove-playbook.ts";
import { removeSender } from "./commands/remove-sender.ts";
import { removeWebhook } from "./commands/remove-webhook.ts";
import { reply } from "./commands/reply.ts";
import { revokeKey } from "./commands/revoke-key.ts";
import { rotateKey } from "./commands/rotate-key.ts";
import { rotateWebhookSecret } from "./commands/rotate-webhook-secret.ts";
import { searchContacts } from "./commands/search-contacts.ts";
import { seedSandbox } from "./commands/seed-sandbox.ts";
import { sendMessage } from "./commands/send-message.ts";
import { changeConsent } from "./commands/set-consent.ts";
import { testWebhook } from "./commands/test-webhook.ts";
import { triggerAgent } from "./commands/trigger-agent.ts";
import { updateAgent } from "./commands/update-agent.ts";
import { updateContact } from "./commands/update-contact.ts";
import { updateConversation } from "./commands/update-conversation.ts";
import { updatePlaybook } from "./commands/update-playbook.ts";
import { updateSender } from "./commands/update-sender.ts";
import { updateWebhook } from "./commands/update-webhook.ts";
import { getAccount } from "./domain/accounts/reads.ts";
import { getAgent, listAgents } from "./domain/agents/reads.ts";
import { getEvent, listEvents } from "./domain/events/reads.ts";
import { listKeys } from "./domain/keys/reads.ts";
import { getMessage, getTimeline, listMessages } from "./domain/messages/reads.ts";
import { getPlaybook, listPlaybooks } from "./domain/playbooks/reads.ts";
import { listSandboxNumbers } from "./domain/sandbox/reads.ts";
import { listSenders } from "./domain/senders/reads.ts";
import { getUsage } from "./domain/usage/reads.ts";
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from "./domain/webhooks/reads.ts";
import { eraseContact } from "./procedures/erase-contact.ts";
import { importContactRows } from "./procedures/import-contacts.ts";
import { mergeContacts } from "./procedures/merge-contacts.ts";
import { resetSandbox } from "./procedures/reset-sandbox.ts";
import { sendBatch } from "./procedures/send-batch.ts";
import type { Command, Procedure, Query, RowProcedure } from "./operation.ts";
import type { Scope } from "./scope.ts";

/** How a handle reaches the engine: inputs are parsed there. */
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
      markRead: (id, options) => change(readConversation, { id }, options),
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
      get: (id) => read(getEvent, { id }),
      list: (filters = {}) => read(listEvents, filters),
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
