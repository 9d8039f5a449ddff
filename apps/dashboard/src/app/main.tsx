// The locale before anything that reads it. The styles before anything that brings styles of its own: where both speak of one element, ours must come later.
import "../shared/lib/known-locale.ts";
import "./mantine-styles.ts";
import "./base.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
