import { Alert, Button, Group, Skeleton, Stack, Stepper, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconAlertTriangle, IconArrowLeft, IconArrowRight, IconEraser, IconPlayerPlay } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { useCurrentProject, useMay, useProject } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { Forbidden } from '@/shared/ui/Forbidden';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { confirmUndo } from '@/shared/ui/undo';
import { runName } from '../list/columns';
import { startRun, usePreflight, usePreview, useWorkflows } from '../queries';
import type { newRunSearch } from '../search';
import { useCheckWords } from './checkWords';
import { COMMAND, type Draft, EMPTY_DRAFT, STEPS, type Step } from './draft';
import { draftErrors, fieldErrors, numbersOf, parameterField, stepOfField } from './draftErrors';
import { withPlace } from './draftPlace';
import { inputsOf, requestOf } from './draftRequest';
import { labelOfField } from './labels';
import { ParametersStep } from './ParametersStep';
import { Preflight } from './Preflight';
import { PreviewCard } from './PreviewCard';
import { questionOf } from './question';
import { ResourcesStep } from './ResourcesStep';
import { ReviewStep } from './ReviewStep';
import { suggestedName } from './runNames';
import { useDraft } from './useDraft';
import { useFocusFirstWrong } from './useFocusFirstWrong';
import { useLeaveStep } from './useLeaveStep';
import { usePlacements } from './usePlacements';
import { firstStep, PATH, usePrefill } from './usePrefill';
import { WorkflowStep } from './WorkflowStep';
import classes from './wizard.module.css';
import { dataRequestOf } from './workflowData';

export function NewRunPage() {
  const { t } = useTranslation();
  const project = useCurrentProject();
  const mayRun = useMay('researcher');
  if (project && !mayRun)
    return (
      <Page>
        <PageHeader title={t('nav.newRun')} />
        <Forbidden hint={t('wizard.forbidden')} />
      </Page>
    );
  return <Wizard key={project?.slug} />;
}

function Wizard() {
  const { t } = useTranslation();
  const project = useProject();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof newRunSearch>;
  const state = useDraft(project);
  const { draft, dispatch, forget } = state;
  const cloned = usePrefill(state);
  const workflows = useWorkflows();
  const workflow = workflows.data?.results.find((one) => one.slug === draft.workflow);
  const first = draft.workflow === null ? 0 : firstStep(search);
  const at = Math.min(draft.workflow === null ? 0 : 3, Math.max(0, search.step ?? first));
  const step = STEPS[at] as Step;
  const [tried, setTried] = useState(false);
  const [sendError, setSendError] = useState<unknown>(null);
  const [sending, setSending] = useState(false);
  const { form, focusFirstWrong } = useFocusFirstWrong(step);
  const idempotencyKey = useRef<{ body: string; key: string } | null>(null);

  const places = usePlacements(questionOf(requestOf(draft), workflow), draft.workflow !== null);
  const placed = useMemo(() => withPlace(draft, places.data?.candidates), [draft, places.data]);
  const request = useMemo(() => {
    const name = placed.name.trim() || suggestedName(placed, workflow);
    return { ...(name && { name }), ...requestOf(placed) };
  }, [placed, workflow]);
  // A refusal belongs to the request that was sent: another request is judged anew.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change that counts
  useEffect(() => setSendError(null), [request]);
  const [settled] = useDebouncedValue(request, 400);
  const preview = usePreview(settled, draft.workflow !== null);
  const dataRequest = useMemo(() => dataRequestOf(settled, workflow), [settled, workflow]);
  const readsData =
    draft.workflow !== null && (draft.workflow === COMMAND || workflow) && inputsOf(draft, workflow).length > 0;
  const preflight = usePreflight(dataRequest, Boolean(readsData));
  const looks = readsData && preflight.data ? preflight.data.datasets : [];
  const checkWords = useCheckWords();
  const misfits = looks.flatMap((look) =>
    look.checks.filter(({ level }) => level === 'error').map((check) => ({ look, check })),
  );
  const stale = settled !== request || places.isFetching || preview.isFetching || preflight.isFetching;
  // The server answers 400 with the same fields when the request itself cannot be read.
  const refused = sendError ?? preview.error;
  const sent = refused ? fieldWords(asApiError(refused)) : {};
  const own = Object.fromEntries(draftErrors(draft).map(({ field, error }) => [field, t(`wizard.${error}`)]));
  // Errors that the form itself finds come last: the server was not asked about them.
  const allErrors = fieldErrors({ ...preview.data?.errors, ...sent, ...own });
  const blocked = Object.keys(own).length > 0 || misfits.length > 0 || (!stale && preview.data?.valid === false);
  const errors = tried
    ? allErrors
    : Object.fromEntries(Object.entries(allErrors).filter(([name]) => name in own || isFilledIn(name, draft)));
  const stepErrors = (name: Step) => Object.keys(allErrors).filter((field) => stepOfField(field, draft) === name);

  const goTo = (index: number) =>
    void navigate({ to: '.', search: (old) => ({ ...old, step: index }), replace: false });
  // The last input is checked before the step is left; no step that has errors is passed by.
  const wrongSteps = Object.keys(allErrors).map((field) => STEPS.indexOf(stepOfField(field, draft)));
  const { isLeaving, leaveFor, onContinue } = useLeaveStep({
    at,
    request,
    stale,
    firstWrong: Math.min(...wrongSteps.filter((index) => index >= at)),
    onLeave: (to, refused) => {
      setTried(refused);
      if (refused) focusFirstWrong();
      if (to !== at) goTo(to);
    },
  });
  const choose = (index: number) => (index > at ? leaveFor(index) : goTo(index));
  const takeVersion = (alias: string, reference: string) => {
    if (draft.workflow !== COMMAND) return dispatch({ type: 'parameter', name: alias, value: reference });
    const ref = reference.slice(reference.lastIndexOf('@') + 1);
    const rows = draft.datasets.map((row) => ((row.alias || row.dataset) === alias ? { ...row, ref } : row));
    dispatch({ type: 'set', values: { datasets: rows } });
  };
  const startOver = () => {
    dispatch({ type: 'load', draft: EMPTY_DRAFT });
    setTried(false);
    void navigate({ to: PATH, search: {} });
    if (draft.workflow === null) return;
    confirmUndo({
      message: t('wizard.startedOver'),
      commit: () => undefined,
      rollback: () => dispatch({ type: 'load', draft }),
    });
  };
  const start = async () => {
    if (blocked || places.isLoading) return;
    setSending(true);
    setSendError(null);
    const body = JSON.stringify(request);
    // The same request sent twice (a lost answer, a double click) starts one run.
    if (idempotencyKey.current?.body !== body) idempotencyKey.current = { body, key: crypto.randomUUID() };
    try {
      const run = await startRun(project, request, idempotencyKey.current.key);
      forget();
      if (run) await navigate({ to: '/runs/$runId', params: { runId: run.id } });
    } catch (error) {
      setSendError(error);
      setTried(true);
      const field = Object.keys(asApiError(error).fields)[0];
      if (!field) return;
      goTo(STEPS.indexOf(stepOfField(field, draft)));
      focusFirstWrong();
    } finally {
      setSending(false);
    }
  };
  useShortcuts([
    {
      keys: 'mod+Enter',
      label: at === 3 ? t('wizard.go') : t('wizard.next'),
      run: () => void (at === 3 ? start() : leaveFor(at + 1)),
      inFields: true,
    },
  ]);
  const title =
    draft.workflow === null ? t('nav.newRun') : t('wizard.title', { what: workflow?.title ?? t('wizard.ownCommand') });
  const general = sendError !== null && Object.keys(asApiError(sendError).fields).length === 0;

  // Its title and its notices are known with what it begins with: nothing that can be pressed moves.
  if (!cloned.isReady)
    return (
      <Page>
        <Stack aria-busy>
          <Skeleton height={28} width={260} />
          <Skeleton height={320} />
        </Stack>
      </Page>
    );
  return (
    <Page>
      <PageHeader title={title} documentTitle={t('nav.newRun')} subtitle={t('wizard.subtitle')}>
        <Button variant="subtle" color="gray" leftSection={<IconEraser size={14} />} onClick={startOver}>
          {t('wizard.startOver')}
        </Button>
      </PageHeader>
      {search.clone && cloned.error && <ErrorState error={cloned.error} />}
      {search.clone && cloned.data && (
        <Alert variant="light" mb="md" py={8}>
          {t('wizard.cloneOf', { name: runName(cloned.data) })}
        </Alert>
      )}
      <Stepper active={at} onStepClick={choose} size="sm" mb="lg" allowNextStepsSelect={draft.workflow !== null}>
        {STEPS.map((name) => (
          <Stepper.Step
            key={name}
            label={t(`wizard.step.${name}`)}
            {...(tried &&
              stepErrors(name).length > 0 && { color: 'red', completedIcon: <IconAlertTriangle size={16} /> })}
          />
        ))}
      </Stepper>
      <div className={classes.layout} data-wide={step === 'workflow' || undefined}>
        <section ref={form} tabIndex={-1} aria-label={t(`wizard.step.${step}`)} className={classes.step}>
          {step === 'workflow' && (
            <WorkflowStep
              chosen={draft.workflow}
              onChoose={(chosen) => {
                dispatch({ type: 'choose', workflow: chosen });
                setTried(false);
                goTo(1);
              }}
            />
          )}
          {step === 'parameters' && (
            <ParametersStep draft={draft} dispatch={dispatch} errors={errors} workflow={workflow} looks={looks} />
          )}
          {step === 'resources' && (
            <ResourcesStep draft={placed} dispatch={dispatch} errors={errors} workflow={workflow} />
          )}
          {step === 'review' && <ReviewStep request={request} project={project} />}
          {general === true && <ErrorState error={sendError} />}
          {step === 'review' && misfits.length > 0 && (
            <Alert color="red" variant="light" mt="md" id="run-misfits" title={t('preflight.blocked')}>
              {misfits.map(({ look, check }) => (
                <Text key={look.alias + check.code} size="sm">
                  <strong>{look.reference}</strong> {checkWords(check)}
                </Text>
              ))}
            </Alert>
          )}
          {step === 'review' && Object.keys(allErrors).length > 0 && (
            <Alert color="red" variant="light" mt="md" title={t('wizard.fixFirst')}>
              {Object.entries(allErrors).map(([field, words]) => (
                <Text key={field} size="sm">
                  <strong>{labelOfField(field, workflow, t)}</strong> {words}
                </Text>
              ))}
            </Alert>
          )}
        </section>
        {step !== 'workflow' && (
          <PreviewCard
            data={
              readsData && (
                <DataLook
                  looking={!preflight.data && preflight.isLoading}
                  error={preflight.data ? null : preflight.error}
                >
                  <Preflight
                    looks={looks}
                    onVersion={takeVersion}
                    onChooseVersion={() => {
                      goTo(1);
                      focusDataset();
                    }}
                  />
                </DataLook>
              )
            }
            preview={preview.data}
            error={preview.data || Object.keys(sent).length > 0 ? null : preview.error}
            refused={Object.keys(sent).length > 0}
            stale={stale}
          />
        )}
      </div>
      {step !== 'workflow' && (
        <Group justify="space-between" className={classes.bar}>
          <Button variant="default" leftSection={<IconArrowLeft size={14} />} onClick={() => goTo(at - 1)}>
            {t('common.back')}
          </Button>
          {step === 'review' ? (
            <Button
              leftSection={<IconPlayerPlay size={15} />}
              loading={sending}
              disabled={blocked || places.isLoading}
              aria-describedby={misfits.length > 0 ? 'run-misfits' : undefined}
              onClick={() => void start()}
            >
              {t('wizard.go')}
            </Button>
          ) : (
            <Button key={step} rightSection={<IconArrowRight size={14} />} loading={isLeaving} onClick={onContinue}>
              {t('wizard.next')}
            </Button>
          )}
        </Group>
      )}
    </Page>
  );
}

/** Puts the focus on the choice of the version, once its step is shown. */
function focusDataset(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-version-of]')?.focus());
}

/** The look at the data, or why there is none yet. */
function DataLook({ looking, error, children }: { looking: boolean; error: unknown; children: ReactNode }) {
  const { t } = useTranslation();
  if (looking)
    return (
      <Text size="sm" c="dimmed" role="status">
        {t('preflight.looking')}
      </Text>
    );
  return error ? <ErrorState compact error={error} /> : children;
}

/** "Required" is not said about a field that nobody has reached yet. */
const isFilledIn = (field: string, draft: Draft) => {
  const parameter = Object.entries(draft.parameters).find(([name]) => parameterField(name) === field)?.[1];
  const value = parameter ?? numbersOf(draft)[field];
  return value !== undefined && value !== '' && value !== null;
};
