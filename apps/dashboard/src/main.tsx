// The locale before anything that reads it. The styles before anything that brings styles of its own: where both speak of one element, ours must come later.
import "./lib/known-locale.ts";
import "./app/mantine-styles.ts";
import "./app/base.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
