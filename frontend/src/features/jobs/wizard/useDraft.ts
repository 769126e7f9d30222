import { useEffect, useReducer, useState } from 'react';
import { type Draft, draftReducer, EMPTY_DRAFT } from './draft';

const keyOf = (project: string) => `atom-new-run/${project}`;
const originKeyOf = (project: string) => `atom-new-run-origin/${project}`;

/** The link that a draft was begun from: what it named, and which visit it was. */
export interface Origin {
  source: string;
  visit: string | undefined;
}

function read<T>(key: string): Partial<T> | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<T> | null;
  } catch {
    return null;
  }
}

function write(key: string, value: object): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A full or forbidden storage: the draft lives as long as the page.
  }
}

const load = (project: string): Draft => ({ ...EMPTY_DRAFT, ...read<Draft>(keyOf(project)) });

/** The form's contents, kept in this tab until the run is started. */
export function useDraft(project: string) {
  const [draft, dispatch] = useReducer(draftReducer, project, load);
  const [origin, setOrigin] = useState(() => read<Origin>(originKeyOf(project)));
  useEffect(() => write(keyOf(project), draft), [project, draft]);
  return {
    draft,
    dispatch,
    origin,
    begunFrom: (from: Origin) => {
      setOrigin(from);
      write(originKeyOf(project), from);
    },
    forget: () => {
      sessionStorage.removeItem(keyOf(project));
      sessionStorage.removeItem(originKeyOf(project));
    },
  };
}
