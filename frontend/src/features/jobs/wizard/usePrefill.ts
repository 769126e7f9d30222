import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useArrived } from '@/shared/live/useArrived';
import { useRun, useRunNumbered, useWorkflows } from '../queries';
import { newRunSearch } from '../search';
import { COMMAND } from './draft';
import { draftFromRun } from './draftFromRun';
import { withoutSuggestedName } from './runNames';
import type { useDraft } from './useDraft';
import { isNarrowable } from './workflowData';

export const PATH = '/runs/new';

/**
 * A link may name a run, a workflow, a dataset with a view of it, or a model to start with. It does so once: then its
 * address has a step, and the draft has what a person changes from there on. The same link pressed again begins anew.
 */
export function usePrefill({ draft, dispatch, origin, begunFrom }: ReturnType<typeof useDraft>) {
  // Both from the location: on the way to the next step the search of the page is still the one of the step before.
  const location = useRouterState({ select: (state) => state.location });
  const navigate = useNavigate();
  const visit = location.state.__TSR_key;
  const isHere = location.pathname === PATH;
  const search = useMemo(() => newRunSearch(isHere ? location.search : {}), [isHere, location.search]);
  const workflows = useWorkflows();
  const cloned = useCloned(search.clone);
  const wanted =
    search.workflow ?? (search.dataset ? 'image-classification' : search.model ? 'evaluate-classifier' : undefined);
  const known = workflows.data?.results;
  const workflow = known?.find((one) => one.slug === wanted);
  const needsList = Boolean(search.clone && (search.dataset ?? cloned.data?.workflow));
  const source = [search.clone ?? wanted, search.dataset, search.view, search.model].filter(Boolean).join();
  useEffect(() => {
    if (needsList && !known) return;
    if (!source || (origin?.source === source && (search.step !== undefined || origin.visit === visit))) return;
    if (search.clone) {
      if (!cloned.data) return;
      const copied = known?.find(({ slug }) => slug === cloned.data?.workflow);
      dispatch({ type: 'load', draft: withoutSuggestedName(draftFromRun(cloned.data), copied) });
      // A button that mended the data: the copy reads the version that it made.
      const input = search.dataset && copied?.parameters.find(({ type }) => type === 'dataset');
      if (input) dispatch({ type: 'parameter', name: input.name, value: search.dataset });
    } else {
      if (!workflow) return;
      if (draft.workflow !== workflow.slug) dispatch({ type: 'choose', workflow });
      for (const parameter of workflow.parameters) {
        const { type } = parameter;
        const value = type === 'dataset' ? search.dataset : type === 'model' ? search.model : undefined;
        if (value) dispatch({ type: 'parameter', name: parameter.name, value });
        // A version without a view is meant whole: a filter of an earlier draft does not narrow it.
        if (type === 'dataset' && search.dataset && isNarrowable(workflow, parameter.name))
          dispatch({
            type: 'selection',
            name: parameter.name,
            selection: search.view ? { view: search.view } : {},
          });
      }
    }
    begunFrom({ source, visit });
    const step = search.step ?? firstStep(search);
    void navigate({ to: '.', search: (old) => ({ ...old, step }), replace: true });
  }, [
    search,
    source,
    workflow,
    known,
    needsList,
    cloned.data,
    draft.workflow,
    dispatch,
    origin,
    visit,
    begunFrom,
    navigate,
  ]);
  const isGivenUp = search.clone ? cloned.error !== null : !workflows.isPending && !workflow;
  const isFilled = source === '' || origin?.source === source || isGivenUp;
  // A draft's title is that of its workflow.
  const isNamed = draft.workflow === null || draft.workflow === COMMAND || !workflows.isPending;
  return { ...cloned, isReady: useArrived(isFilled && isNamed) };
}

/** A copy of a run is complete: its review comes first. */
export const firstStep = ({ clone }: { clone?: string | undefined }) => (clone ? 3 : 1);

/** The run with this id or, in the project, this number. */
function useCloned(name: string | undefined) {
  const number = name && /^\d{1,9}$/.test(name) ? Number(name) : null;
  const numbered = useRunNumbered(number);
  const id = number === null ? name : numbered.data;
  const cloned = useRun(id ?? '', id !== undefined);
  return { data: cloned.data, error: numbered.error ?? cloned.error };
}
