import { useEffect, useReducer } from 'react';
import { type Draft, draftReducer, EMPTY_DRAFT } from './draft';

const keyOf = (project: string) => `atom-new-run/${project}`;

function load(project: string): Draft {
  try {
    const stored = JSON.parse(sessionStorage.getItem(keyOf(project)) ?? 'null') as Partial<Draft> | null;
    return { ...EMPTY_DRAFT, ...stored };
  } catch {
    return EMPTY_DRAFT;
  }
}

/** The form's contents, kept in this tab until the run is started. */
export function useDraft(project: string) {
  const [draft, dispatch] = useReducer(draftReducer, project, load);
  useEffect(() => {
    try {
      sessionStorage.setItem(keyOf(project), JSON.stringify(draft));
    } catch {
      // A full or forbidden storage: the draft lives as long as the page.
    }
  }, [project, draft]);
  return { draft, dispatch, forget: () => sessionStorage.removeItem(keyOf(project)) };
}
