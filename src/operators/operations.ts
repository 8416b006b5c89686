import { byIdSchema, iso, notFound, withPath, type ById } from "../kernel/index.ts";
import {
  freeOrdinal,
  listQuery,
  showsNothing,
  type Command,
  type Query,
} from "../operations/index.ts";
import { operatorById, operatorByOrdinal, operators, type OperatorRow } from "./rows.ts";
import { operatorId, saveOperatorSchema, type Operator, type SaveOperator } from "./types.ts";

const maxOperators = 1_000;

function operatorResource({ id, name, avatar_url, created_at, updated_at }: OperatorRow): Operator {
  return { id, name, avatar_url, created_at: iso(created_at), updated_at: iso(updated_at) };
}

/** Lists the operators in the order of their ids. */
export const listOperators = listQuery({
  name: "operators.list",
  index: operators.primary,
  order: "ascending",
  show: (rows) => rows.map(operatorResource),
});

export const getOperator: Query<ById, Operator> = {
  kind: "query",
  name: "operators.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const operator = await reads.get(operatorById, [id]);
    if (operator === undefined) throw notFound("operator");
    return operatorResource(operator);
  },
};

/** Adds an operator, or replaces the data of the one with this id. */
export const saveOperator: Command<SaveOperator & ById, Operator> = {
  kind: "command",
  name: "operators.save",
  input: () =>
    withPath(saveOperatorSchema, {
      id: operatorId.meta({
        description:
          "The host application's id of the person, at most 200 characters. Not `.` or `..`.",
      }),
    }),
  status: 200,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id, name, avatar_url = null }) {
    const known = await tx.get(operatorById, [id]);
    if (known?.name === name && known.avatar_url === avatar_url) return operatorResource(known);
    const data = { name, avatar_url, updated_at: tx.now };
    if (known !== undefined) return operatorResource(tx.update(operators, known, data));
    const ordinal = await freeOrdinal(tx, operatorByOrdinal, maxOperators);
    return operatorResource(tx.insert(operators, { ...data, id, ordinal, created_at: tx.now }));
  },
};

/** Removes an operator. Conversations, replies and notes keep the id. */
export const removeOperator: Command<ById, void> = {
  kind: "command",
  name: "operators.remove",
  input: () => byIdSchema,
  status: 204,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id }) {
    const operator = await tx.get(operatorById, [id]);
    if (operator === undefined) throw notFound("operator");
    tx.remove(operators, operator);
  },
};
