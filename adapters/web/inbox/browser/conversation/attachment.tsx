import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  Button,
  explain,
  Icon,
  loadFile,
  SafeLink,
  webAddress,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

interface AttachmentProps {
  readonly url: string;
  /** The path below the mount that fetches the file. Absent while the server has no message. */
  readonly path?: string;
}

/** The last part of an address, as people read it. */
function fileName(address: string): string {
  const name = new URL(address).pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * A file of a message. Its address may tell who opens it, so nothing is loaded by itself. The
 * server fetches what a person wants to see, and the browser never contacts the stranger's host.
 */
export function Attachment({ url, path }: AttachmentProps): JSX.Element {
  const address = webAddress(url);
  const host = address === undefined ? "" : new URL(address).host;
  const [file, setFile] = useState<{ readonly url: string; readonly type: string }>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  useEffect(() => () => URL.revokeObjectURL(file?.url ?? ""), [file]);
  const show = async (from: string): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const blob = await loadFile(from, stop.current.signal);
      setFile({ url: URL.createObjectURL(blob), type: blob.type });
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="attachment-box">
      <span class="attachment" data-tooltip={address && t("attachmentWarning")}>
        <Icon name="paperclip" />
        {address === undefined ? (
          <bdi class="truncate">{url}</bdi>
        ) : (
          <span class="attachment-name">
            <SafeLink url={url}>{fileName(address) || t("attachment")}</SafeLink>
            <bdi class="truncate muted">{host}</bdi>
          </span>
        )}
        {address !== undefined && path !== undefined && file === undefined && (
          <Button isSmall kind="quiet" icon="image" isBusy={isBusy} onClick={() => void show(path)}>
            {t("attachmentShow")}
          </Button>
        )}
      </span>
      {file?.type.startsWith("image/") && (
        <img class="attachment-file" src={file.url} alt={t("attachmentAlt", { host })} />
      )}
      {file?.type.startsWith("audio/") && <audio class="attachment-file" src={file.url} controls />}
      {file?.type.startsWith("video/") && <video class="attachment-file" src={file.url} controls />}
      {problem !== undefined && (
        <p class="message-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
