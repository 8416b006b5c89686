import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import {
  ApiError,
  Badge,
  Button,
  exactDuration,
  explain,
  Icon,
  linkTo,
  request,
  TextArea,
  TextField,
} from "../../../shared/browser/index.ts";
import { curlOf } from "../curl.ts";
import { Code, Json } from "../parts/json.tsx";
import { Method, statusTone } from "../parts/requests.tsx";
import { withCode } from "../parts/values.tsx";
import { t } from "../texts.ts";
import type { Operation, Parameter } from "./document.ts";

interface OperationViewProps {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

type Values = Readonly<Record<string, string>>;

/** What a person entered for a route. */
interface Entered {
  /** The parameters of the path and the query. */
  readonly values: Values;
  readonly body: string;
}

/** For whoever comes back, such as with an id that another page shows. */
const enteredBefore = new Map<string, Entered>();

/** One route: what it does, a form to call it, and its response. */
export function OperationView(props: OperationViewProps): JSX.Element {
  const { id, method, path, operation } = props;
  const content = contentOf(operation);
  const [entered, setEntered] = useState(
    () => enteredBefore.get(id) ?? { values: {}, body: exampleOf(content) },
  );
  const { values, body } = entered;
  const enter = (change: Partial<Entered>): void => {
    const next = { ...entered, ...change };
    enteredBefore.set(id, next);
    setEntered(next);
  };
  const parameters = parametersOf(operation);
  const target = targetOf(path, parameters, values);
  const parsed = useMemo(() => parsedBody(body), [body]);
  const obstacle = obstacleOf(path, operation);
  return (
    <div class="detail operation">
      <a class="page-back" href={linkTo(["api"])}>
        <Icon name="back" />
        {t("endpoints")}
      </a>
      <header>
        <h2>{operation.summary}</h2>
        <p class="operation-path">
          <Method name={method} />
          <code>{path}</code>
        </p>
        <p class="muted">{withCode(operation.description ?? "")}</p>
      </header>
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={values[parameter.name ?? ""] ?? ""}
          onChange={(value) => enter({ values: { ...values, [parameter.name ?? ""]: value } })}
        />
      ))}
      {content !== undefined && (
        <TextArea
          label={t("requestBody")}
          isOptional={operation.requestBody?.required !== true}
          class="input mono"
          rows={Math.min(16, Math.max(4, body.split("\n").length + 1))}
          dir="ltr"
          spellcheck={false}
          problem={parsed.problem}
          value={body}
          onChange={(text) => enter({ body: text })}
        />
      )}
      {obstacle === undefined ? (
        <Call
          method={method}
          target={target}
          body={parsed.body}
          canCall={parsed.problem === undefined && !target.includes("{")}
        />
      ) : (
        <p class="notice tone-neutral">
          <Icon name="info" />
          {t(obstacle === "stream" ? "endpointStream" : "endpointOther")}
        </p>
      )}
    </div>
  );
}

/** The JSON that a request takes. Undefined if it takes none. */
const contentOf = ({ requestBody }: Operation) => requestBody?.content["application/json"];

/** The text of the example. Empty if there is none, since the body is then optional. */
const exampleOf = (content: ReturnType<typeof contentOf>): string =>
  content?.example === undefined ? "" : JSON.stringify(content.example, null, 2);

/** The parameters of the path and the query. */
const parametersOf = ({ parameters = [] }: Operation): readonly Parameter[] =>
  parameters.filter((each) => each.in === "path" || each.in === "query");

/** Why the console cannot call the route. Undefined if it can. */
function obstacleOf(path: string, operation: Operation): "stream" | "other" | undefined {
  if (path.endsWith("/stream")) return "stream";
  const isOpenOrKeyed = (operation.security ?? []).every((each) => "apiKey" in each);
  return isOpenOrKeyed && !path.includes("/callbacks") ? undefined : "other";
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ParameterField({ parameter, value, onChange }: ParameterFieldProps): JSX.Element {
  const { name = "", required, description } = parameter;
  return (
    <TextField
      label={name}
      isOptional={required !== true}
      {...(description !== undefined && { hint: withCode(description) })}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onChange={(typed) => onChange(typed.trim())}
    />
  );
}

/** The path and the query. A part of the path without a value stays in braces. */
function targetOf(path: string, parameters: readonly Parameter[], values: Values): string {
  let target = path;
  const query = new URLSearchParams();
  for (const { name = "", in: place } of parameters) {
    const value = values[name] ?? "";
    if (value === "") continue;
    if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, value);
  }
  return query.size === 0 ? target : `${target}?${query.toString()}`;
}

interface ParsedBody {
  readonly body: unknown;
  readonly problem: string | undefined;
}

function parsedBody(text: string): ParsedBody {
  if (text.trim() === "") return { body: null, problem: undefined };
  try {
    return { body: JSON.parse(text) as unknown, problem: undefined };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    return { body: null, problem: t("bodyInvalid", { reason }) };
  }
}

interface CallProps {
  readonly method: string;
  readonly target: string;
  readonly body: unknown;
  readonly canCall: boolean;
}

interface Answer {
  readonly status: number | null;
  readonly body: unknown;
  readonly problem: string | undefined;
  readonly took: number;
}

function Call({ method, target, body, canCall }: CallProps): JSX.Element {
  const [answer, setAnswer] = useState<Answer>();
  const [isBusy, setBusy] = useState(false);
  const command = curlOf({ method, path: target, body });
  const call = async (): Promise<void> => {
    setBusy(true);
    const start = performance.now();
    const took = (): number => performance.now() - start;
    try {
      const received = await request(method, target, body ?? undefined);
      setAnswer({
        status: received.status,
        body: received.body ?? null,
        problem: undefined,
        took: took(),
      });
    } catch (error) {
      const isAnswer = error instanceof ApiError;
      setAnswer({
        status: isAnswer ? error.status : null,
        body: isAnswer ? error.problem : null,
        problem: explain(error),
        took: took(),
      });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div class="operation-actions">
        <Button
          kind={method === "DELETE" ? "danger" : "primary"}
          icon="send"
          isBusy={isBusy}
          disabled={!canCall}
          onClick={() => void call()}
        >
          {t("send")}
        </Button>
      </div>
      <Code text={command} label={t("curlLabel", { method, path: target })} />
      {answer && (
        <section class="operation-answer" aria-label={t("response")} aria-live="polite">
          <h3>
            {t("response")}{" "}
            {answer.status !== null && (
              <Badge tone={statusTone(answer.status)}>{String(answer.status)}</Badge>
            )}{" "}
            <span class="muted">{exactDuration(answer.took)}</span>
          </h3>
          {answer.problem !== undefined && <p class="field-problem">{answer.problem}</p>}
          {answer.body !== null && <Json value={answer.body} label={t("responseBody")} />}
        </section>
      )}
    </>
  );
}
