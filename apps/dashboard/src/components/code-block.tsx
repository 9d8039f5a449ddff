import classes from "./code-block.module.css";
import { CopyButton } from "./copy-button.tsx";

interface Props {
  readonly title: string;
  readonly code: string;
  /** What the eye sees of code with a secret in it. */
  readonly shown?: string;
  /** Completes the button's label: "Copy the code". */
  readonly what: string;
}

/** Lines to paste somewhere. Long ones are broken for the eye only. */
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
