import type { ModelAction, ModelSlot, ModelTurn } from "../../../src/ports/index.ts";
import type { FunctionTool } from "./specification.ts";

/** The names of the engine's own tools. Names of actions cannot begin with an underscore. */
export const toolNames = {
  reply: "_reply",
  handoff: "_handoff",
  startPlaybook: "_start_playbook",
  slot: "_slot",
} as const;

/** Returns the tools that the model can call in this turn. */
export function toolsOf(turn: ModelTurn): FunctionTool[] {
  const { task } = turn;
  if (task.type === "extract") return [slotTool(task.slot)];
  const canStart = task.type === "answer" && turn.playbooks.length > 0;
  return [
    ...turn.actions.map(actionTool),
    ...(turn.agent.reply.mode === "generated" || turn.knowledge.length > 0
      ? [replyTool(turn)]
      : []),
    handoffTool,
    ...(canStart ? [startPlaybookTool(turn)] : []),
  ];
}

function actionTool({ name, description, input_schema }: ModelAction): FunctionTool {
  return tool(name, description, { type: "object", properties: {}, ...input_schema });
}

function replyTool({ agent, knowledge, intents }: ModelTurn): FunctionTool {
  const content =
    agent.reply.mode === "generated"
      ? { text: { type: "string", description: "The text to send to the customer." } }
      : {
          piece: {
            type: "integer",
            minimum: 1,
            maximum: knowledge.length,
            description: "The number of the piece of knowledge to send.",
          },
        };
  const properties = {
    ...content,
    confidence: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description: "How sure you are that this answers the customer.",
    },
    ...(intents.length > 0
      ? { intent: { type: "string", enum: intents, description: "What the customer wants." } }
      : {}),
    observations: {
      type: "array",
      description: "Lasting facts about the customer that this conversation showed. Usually none.",
      items: object(
        {
          content: { type: "string" },
          kind: { type: "string" },
          confidence: { type: "number", minimum: 0, maximum: 1 },
        },
        ["content", "kind"],
      ),
    },
  };
  return tool(toolNames.reply, "Answers the customer.", object(properties, Object.keys(content)));
}

const handoffTool = tool(
  toolNames.handoff,
  "Gives the conversation to a person.",
  object(
    {
      reason: { type: "string", description: "Why, in a few words." },
      summary: {
        type: "string",
        description: "What a colleague must know, in two or three sentences.",
      },
    },
    ["reason"],
  ),
);

function startPlaybookTool({ playbooks }: ModelTurn): FunctionTool {
  const id = { type: "string", enum: playbooks.map((playbook) => playbook.id) };
  return tool(
    toolNames.startPlaybook,
    "Starts a playbook, which then leads the conversation.",
    object({ playbook_id: id }, ["playbook_id"]),
  );
}

const slotTypes: Readonly<Record<ModelSlot["type"], object>> = {
  text: { type: "string" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  date: { type: "string", description: "YYYY-MM-DD" },
  phone: { type: "string", description: "Digits, after a + and the country's code where given." },
  email: { type: "string" },
};

function slotTool(slot: ModelSlot): FunctionTool {
  const value =
    slot.enum === undefined ? slotTypes[slot.type] : { type: "string", enum: slot.enum };
  return tool(
    toolNames.slot,
    "Gives the value that the customer named; without one when there is none.",
    object({ value }, []),
  );
}

function tool(name: string, description: string, inputSchema: object): FunctionTool {
  return { type: "function", name, description, inputSchema };
}

function object(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}
