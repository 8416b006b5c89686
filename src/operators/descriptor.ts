import { pageSchema } from "../kernel/index.ts";
import {
  commandById,
  commandByIdAndInput,
  list,
  queryById,
  type ApiRoute,
  type Module,
} from "../operations/index.ts";
import { getOperator, listOperators, removeOperator, saveOperator } from "./operations.ts";
import { operators } from "./rows.ts";
import { operatorSchema } from "./types.ts";

const tag = "Operators";
const read = { tag, scopes: ["conversations:read"] } as const;
const manage = { tag, scopes: ["operators:manage"] } as const;

const operatorRoutes: readonly ApiRoute[] = [
  {
    ...read,
    method: "GET",
    path: "/v1/operators",
    operation: listOperators,
    summary: "List operators",
    description: "In the order of their ids.",
    response: pageSchema(operatorSchema).meta({ id: "OperatorPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/operators/:id",
    operation: getOperator,
    summary: "Get an operator",
    response: operatorSchema,
  },
  {
    ...manage,
    method: "PUT",
    path: "/v1/operators/:id",
    operation: saveOperator,
    summary: "Add or change an operator",
    description: "The id is your own. An account can have 1,000 operators in each mode.",
    response: operatorSchema,
    example: { name: "Kim Lee", avatar_url: "https://example.com/kim.png" },
  },
  {
    ...manage,
    method: "DELETE",
    path: "/v1/operators/:id",
    operation: removeOperator,
    summary: "Remove an operator",
    description: "Conversations stay assigned to the id, and replies and notes keep it.",
  },
];

const operatorHandles = {
  operators: {
    list: list(listOperators),
    get: queryById(getOperator),
    save: commandByIdAndInput(saveOperator),
    remove: commandById(removeOperator),
  },
};

export const operatorsModule: Module<object, typeof operatorHandles> = {
  collections: [operators],
  tags: [
    {
      name: "Operators",
      description: "The people who work on conversations: their names and pictures.",
    },
  ],
  routes: operatorRoutes,
  handles: operatorHandles,
};
