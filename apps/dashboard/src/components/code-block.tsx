import classes from "./code-block.module.css";
import { CopyButton } from "./copy-button.tsx";

interface Props {
  readonly title: string;
  readonly code: string;
  /** Completes the button's label: "Copy the code". */
  readonly what: string;
}

/** Lines to paste somewhere. Long ones are broken for the eye only. */
export function CodeBlock({ title, code, what }: Props) {
  return (
    <div className={classes.block}>
      <div className={classes.head}>
        <span className="quiet">{title}</span>
        <CopyButton value={code} what={what} />
      </div>
      <pre>{code}</pre>
    </div>
  );
}
