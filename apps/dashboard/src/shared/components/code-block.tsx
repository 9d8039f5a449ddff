import classes from "./code-block.module.css";
import { CopyButton } from "./copy-button.tsx";

interface Props {
  readonly title: string;
  readonly code: string;
  /** The code as it is shown, where it has a secret in it. */
  readonly shown?: string;
  /** Completes the button's label: "Copy the code". */
  readonly what: string;
}

/** Lines to paste somewhere. Long lines wrap on the screen but not on the clipboard. */
export function CodeBlock({ title, code, shown = code, what }: Props) {
  return (
    <div className={classes.block}>
      <div className={classes.head}>
        <span className="quiet">{title}</span>
        <CopyButton value={code} what={what} />
      </div>
      <pre>{shown}</pre>
    </div>
  );
}
