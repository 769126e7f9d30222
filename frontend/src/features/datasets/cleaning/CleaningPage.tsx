import { Alert, Button, Skeleton } from '@mantine/core';
import { IconBan, IconSparkles } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CleaningReport, FindingKind, Thresholds } from '@/api/contract/datasets';
import { ApiError } from '@/api/errors';
import { useMay, useProject } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PrintReport, ReportOrigin } from '@/shared/ui/print/PrintReport';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { VersionPicker } from '../browse/VersionPicker';
import { DatasetPartHeader } from '../DatasetPartHeader';
import { personName } from '../names';
import { useHeadBranch } from '../queries';
import { Findings } from './Findings';
import { isOpen, useReport, useReportActions } from './queries';
import { ReportProgress } from './ReportProgress';
import { StartForm } from './StartForm';

const route = getRouteApi('/datasets/$name/cleaning');

/** The faults of a version: starts a report, follows it, shows its findings. */
export function CleaningPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const { ref = 'main', report: named } = route.useSearch();
  const navigate = route.useNavigate();
  const { report, hasNone, error, refetch } = useReport(name, ref, named);
  const [asking, setAsking] = useState(false);
  const mayAct = useMay('researcher');
  const actions = useReportActions(name, ref);
  const start = async (thresholds: Thresholds) => {
    const report = await actions.start(thresholds);
    setAsking(false);
    void navigate({ search: (old) => ({ ...old, report, kind: undefined }) });
  };
  // A branch moves, also by what is removed here: the report that is looked at stays.
  const shown = named === undefined ? report?.id : undefined;
  useEffect(() => {
    if (shown) void navigate({ search: (old) => ({ ...old, report: shown }), replace: true });
  }, [shown, navigate]);
  const pickVersion = (next: string) => void navigate({ search: () => ({ ref: next }) });
  return (
    <Page>
      <ReportOrigin />
      <DatasetPartHeader
        name={name}
        tab="files"
        title={t('cleaning.title')}
        documentTitle={t('cleaning.documentTitle', { name, ref })}
        above={
          <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref }} size="sm">
            {name}
          </AnchorLink>
        }
        badges={<VersionPicker name={name} value={ref} onChange={pickVersion} />}
        subtitle={report && <Facts report={report} />}
      >
        {mayAct && report && !isOpen(report) && !asking && (
          <Button variant="default" leftSection={<IconSparkles size={15} />} onClick={() => setAsking(true)}>
            {t('cleaning.again')}
          </Button>
        )}
        {report?.state === 'ready' && !asking && <PrintReport />}
      </DatasetPartHeader>
      {error ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !report && !hasNone && <Skeleton height={180} radius="md" aria-busy />}
      {hasNone && !mayAct && <EmptyState icon={IconSparkles} title={t('cleaning.viewer')} />}
      {mayAct && (hasNone || asking) && <StartForm name={`${name}@${ref}`} start={start} />}
      {report && !asking && <Body report={report} cancel={mayAct ? () => actions.cancel(report.id) : undefined} />}
    </Page>
  );
}

function Facts({ report }: { report: CleaningReport }) {
  const { t } = useTranslation();
  const facts = [
    report.ref,
    report.state === 'ready' && t('cleaning.images', { count: report.image_count }),
    report.created_by && t('cleaning.madeBy', { name: personName(report.created_by) }),
  ];
  return (
    <>
      {facts.filter(Boolean).join(' · ')} · <RelativeTime at={report.created_at} />
    </>
  );
}

function Body({ report, cancel }: { report: CleaningReport; cancel: (() => Promise<unknown>) | undefined }) {
  const { t } = useTranslation();
  const project = useProject();
  const { ref = 'main', kind } = route.useSearch();
  const navigate = route.useNavigate();
  const branch = useHeadBranch({ project, dataset: report.dataset, ref })?.name ?? 'main';
  if (isOpen(report)) return <ReportProgress report={report} cancel={cancel} />;
  if (report.state === 'cancelled')
    return (
      <Alert color="gray" icon={<IconBan size={18} />}>
        {t('cleaning.cancelled')}
      </Alert>
    );
  if (report.error)
    return <ErrorState error={new ApiError({ status: 409, title: t('cleaning.failed'), ...report.error })} />;
  const choose = (next: FindingKind) => void navigate({ search: (old) => ({ ...old, kind: next }) });
  return <Findings key={report.id} report={report} kind={kind} onKind={choose} branch={branch} />;
}
