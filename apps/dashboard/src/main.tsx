// Before anything that brings styles of its own: where both speak of one element, ours must come later.
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
