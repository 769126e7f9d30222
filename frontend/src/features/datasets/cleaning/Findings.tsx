import { Alert, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CleaningReport, FindingCount, FindingKind } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { usePrinting } from '@/shared/ui/print/printing';
import { confirmUndo, notifyError, notifySuccess } from '@/shared/ui/undo';
import { OperationProgress } from '../operations/OperationProgress';
import { tellIfCancelled } from '../operations/useOperation';
import { Gallery } from './Gallery';
import { KindCards } from './KindCards';
import { LabelDialog } from './LabelDialog';
import { useFindingActions } from './queries';
import { SelectionBar } from './SelectionBar';
import { NONE, withAll } from './selection';

interface FindingsProps {
  report: CleaningReport;
  kind: FindingKind | undefined;
  onKind: (kind: FindingKind) => void;
  /** Where files are removed from; the server sees to it that they are still the same there. */
  branch: string;
}

/** The findings of a report, kind by kind. */
export function Findings({ report, kind, onKind, branch }: FindingsProps) {
  const { t } = useTranslation();
  const printing = usePrinting();
  // Files that were removed, over all kinds: a file may be found as several.
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const first = report.counts.find(({ items }) => items > 0);
  const chosen = report.counts.find((count) => count.kind === kind) ?? first;
  return (
    <>
      {report.is_partial && (
        <Alert color="orange" icon={<IconAlertTriangle size={18} />} mb="sm">
          {t('cleaning.partial')}
        </Alert>
      )}
      {!first || !chosen ? (
        <EmptyState icon={IconCircleCheck} title={t('cleaning.clean')} />
      ) : (
        <>
          <KindCards counts={report.counts} chosen={chosen.kind} onChoose={onKind} />
          {/* On paper every kind, one below the other. */}
          {(printing ? report.counts.filter(({ items }) => items > 0) : [chosen]).map((count) => (
            <section key={`${report.id}:${count.kind}`} aria-label={t(`cleaning.kind.${count.kind}`)}>
              {printing && (
                <Title order={2} fz="sm" my="xs">
                  {t(`cleaning.kind.${count.kind}`)}
                </Title>
              )}
              <OfKind report={report} count={count} branch={branch} gone={gone} onGone={setGone} />
            </section>
          ))}
        </>
      )}
    </>
  );
}

interface OfKindProps {
  report: CleaningReport;
  count: FindingCount;
  branch: string;
  /** Removed since the report was opened. */
  gone: ReadonlySet<string>;
  onGone: (change: (before: ReadonlySet<string>) => ReadonlySet<string>) => void;
}

function OfKind({ report, count, branch, gone, onGone }: OfKindProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayAct = useMay('researcher');
  const { kind } = count;
  const actions = useFindingActions(report.dataset, report.id);
  const [selection, setSelection] = useState(NONE);
  const [labeling, dialog] = useDisclosure();
  const paths = [...selection.paths];
  const selectAll = async () => {
    const { paths: found, isAll } = await actions.pathsOf(kind, gone);
    setSelection(withAll(NONE, found));
    if (!isAll) notifySuccess(t('cleaning.notAll', { count: found.length }));
  };
  const remove = () => {
    // Other files may be removed, and come back, meanwhile.
    const bringBack = () => onGone((before) => new Set([...before].filter((path) => !selection.paths.has(path))));
    onGone((before) => new Set([...before, ...paths]));
    setSelection(NONE);
    confirmUndo({
      message: t('versioning.removing', { count: paths.length, branch }),
      commit: async () => {
        try {
          const { version } = await actions.remove(branch, paths);
          notifySuccess(t('cleaning.removed', { branch, ref: version?.ref ?? '' }));
        } catch (thrown) {
          bringBack();
          tellIfCancelled(thrown);
        }
      },
      rollback: bringBack,
    });
  };
  const label = async (name: string, labels: string[]) => {
    const task = await actions.label(report.ref, name, labels, { of: { paths }, isMatching: false });
    dialog.close();
    notifySuccess(t('cleaning.made', { name }));
    if (task) void navigate({ to: '/labeling/$taskId', params: { taskId: task.id } });
  };
  return (
    <>
      {mayAct && (
        <SelectionBar
          count={count}
          selected={paths.length}
          onAll={() => void selectAll().catch(notifyError)}
          onClear={() => setSelection(NONE)}
          onRemove={remove}
          onLabel={dialog.open}
        />
      )}
      <OperationProgress operation={actions.operation} withCancel />
      <Gallery report={report.id} kind={kind} gone={gone} selection={selection} onSelect={setSelection} />
      <LabelDialog
        dataset={report.dataset}
        versionRef={report.ref}
        taskName={t('cleaning.taskNameValue', {
          dataset: report.dataset,
          ref: report.ref,
          kind: t(`cleaning.kind.${kind}`),
        })}
        count={paths.length}
        opened={labeling}
        onClose={dialog.close}
        send={label}
      />
    </>
  );
}
