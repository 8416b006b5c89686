import { keys } from "../../../src/accounts/keys/rows.ts";
import { playbooks } from "../../../src/agents/playbooks/rows.ts";
import { TidingsError } from "../../../src/index.ts";
import { observations } from "../../../src/observations/rows.ts";
import { operators } from "../../../src/operators/rows.ts";
import { senders } from "../../../src/senders/rows.ts";
import type { ApiCall } from "../operators.ts";
import { allRows } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";
import { bookingPlaybook } from "./agent-operators.ts";

/** A request. `call` is repeated until it is answered, so it must always ask for the same. */
interface Change {
  readonly does: string;
  readonly subjects: readonly string[];
  readonly call: ApiCall<unknown>;
}
type Draw = (world: World) => Change | undefined;

/** With more, each would be met by too little. */
const maxKept = 3;
/** Added and removed again. Nobody sends from it. */
const spareSender = "+15550009000";
const sparePlaybook = "Spare";

const people = ["ann", "bo", "cy"] as const;

const saveOperator: Draw = ({ dice, words }) => {
  const id = dice.pick(people);
  const name = `Operator ${words.next()}`;
  const call: ApiCall<unknown> = (engine, options) => engine.operators.save(id, { name }, options);
  return { does: `save the operator ${id}`, subjects: [id], call };
};

const readOperators: Draw = ({ dice, database }) => {
  const known = dice.chance(0.7) ? dice.pick(allRows(database, operators)) : undefined;
  if (known === undefined) {
    return { does: "list the operators", subjects: [], call: (engine) => engine.operators.list() };
  }
  const { id } = known;
  // Another administrator may remove it at any time.
  const call: ApiCall<unknown> = (engine) => engine.operators.get(id).catch(ifGone);
  return { does: `get the operator ${id}`, subjects: [], call };
};

const removeOperator: Draw = ({ dice }) => {
  const id = dice.pick(people);
  const call: ApiCall<unknown> = (engine, options) =>
    engine.operators.remove(id, options).catch(ifGone);
  return { does: `remove the operator ${id}`, subjects: [], call };
};

const listKeys: Draw = () => ({
  does: "list API keys",
  subjects: [],
  call: (engine) => engine.apiKeys.list(),
});

const createKey: Draw = (world) => {
  const { database, words } = world;
  if (allRows(database, keys).length >= maxKept) return listKeys(world);
  const name = `Key ${words.next()}`;
  const call: ApiCall<unknown> = (engine, options) => engine.apiKeys.create({ name }, options);
  return { does: "create an API key", subjects: [], call };
};

const changeKey: Draw = ({ database, dice }) => {
  const id = dice.pick(allRows(database, keys))?.id;
  if (id === undefined) return undefined;
  const isRevoked = dice.chance(0.5);
  const call: ApiCall<unknown> = (engine, options) =>
    (isRevoked ? engine.apiKeys.revoke(id, options) : engine.apiKeys.rotate(id, {}, options)).catch(
      ifGone,
    );
  return { does: `${isRevoked ? "revoke" : "rotate"} ${id}`, subjects: [], call };
};

const addOrChangeSender: Draw = ({ database, dice }) => {
  const spare = allRows(database, senders).find(({ address }) => address === spareSender);
  if (spare === undefined) {
    const input = { address: spareSender, channels: ["sms" as const], transport: "spare" };
    const call: ApiCall<unknown> = (engine, options) =>
      engine.senders.create(input, options).catch(ifGone);
    return { does: "add a sender", subjects: [], call };
  }
  const { id } = spare;
  const isRemoved = dice.chance(0.5);
  const changes = { messages_per_second: dice.between(1, 5) };
  const call: ApiCall<unknown> = (engine, options) =>
    (isRemoved
      ? engine.senders.remove(id, options)
      : engine.senders.update(id, changes, options)
    ).catch(ifGone);
  return { does: `change or remove ${id}`, subjects: [], call };
};

const changePlaybook: Draw = ({ database, dice }) => {
  const spare = allRows(database, playbooks).find(
    ({ definition }) => definition.name === sparePlaybook,
  );
  if (spare === undefined) {
    const input = { ...bookingPlaybook, name: sparePlaybook, trigger: { keywords: ["spare"] } };
    const call: ApiCall<unknown> = (engine, options) => engine.playbooks.create(input, options);
    return { does: "create a playbook", subjects: [], call };
  }
  const { id, revision } = spare;
  // No unique word: a contact may get this text, but an erasure leaves it in the playbook.
  const changes = { slots: [{ ...what, prompt: `What, after version ${revision}?` }] };
  const isRemoved = dice.chance(0.3);
  const call: ApiCall<unknown> = (engine, options) =>
    (isRemoved
      ? engine.playbooks.remove(id, options)
      : engine.playbooks.update(id, changes, options)
    ).catch(ifGone);
  return { does: `change or remove ${id}`, subjects: [], call };
};
const what = { name: "what", type: "text", required: true } as const;

const removeObservation: Draw = ({ database, dice }) => {
  const chosen = dice.pick(allRows(database, observations));
  if (chosen === undefined) return undefined;
  const { id, contact_id } = chosen;
  const call: ApiCall<unknown> = (engine, options) =>
    engine.contacts.removeObservation(contact_id, id, options).catch(ifGone);
  return { does: `remove ${id}`, subjects: [], call };
};

/** Others may have removed it, or made the same. Any other error is one. */
function ifGone(error: unknown): undefined {
  if (error instanceof TidingsError && expected.has(error.code)) return undefined;
  throw error;
}
const expected: ReadonlySet<string> = new Set(["not_found", "erased", "conflict"]);

const draws: readonly Draw[] = [
  saveOperator,
  readOperators,
  removeOperator,
  listKeys,
  createKey,
  changeKey,
  addOrChangeSender,
  changePlaybook,
  removeObservation,
];

/** How many requests an administrator begins together at most. */
const maxDraws = 4;

const administrator: Actor = {
  does: "An administrator changes API keys, operators, a spare sender, a playbook, observations.",
  group: "administration",
  weight: 1,
  async act(world) {
    const { dice, operators } = world;
    const drawn = Array.from({ length: dice.between(1, maxDraws) }, () =>
      dice.pick(draws)?.(world),
    ).filter((each) => each !== undefined);
    await Promise.all(
      drawn.map(({ does, subjects, call }) => operators.request(does, subjects, call)),
    );
  },
};

export const administrators: readonly Actor[] = [administrator];
