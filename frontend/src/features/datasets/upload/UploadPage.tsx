import { Button, Card, Group } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/shared/domain/me';
import { useMay, useProject } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useRefresh } from '../operationQueries';
import { type Chosen, differences, type FileProblem, placed, type UploadFile } from './chosen';
import { DropZone } from './DropZone';
import { FileProblems } from './FileProblems';
import { forgetOrder, type Order, savedFiles, savedOrders } from './saved';
import { dropTransfer, startTransfer, takeHanded, useHanded, useTransfer } from './session';
import { TransferCard } from './TransferCard';
import type { Transfer } from './transfer';
import { Unfinished } from './Unfinished';
import { UploadForm } from './UploadForm';

const route = getRouteApi('/uploads');

/** Uploading a folder: choosing it, what becomes of it, how far it is. */
export function UploadPage() {
  const { t } = useTranslation();
  const { dataset } = route.useSearch();
  const may = useMay('researcher');
  return (
    <Page>
      <PageHeader
        title={t('upload.title')}
        subtitle={t('upload.subtitle')}
        above={
          dataset ? (
            <AnchorLink to="/datasets/$name" params={{ name: dataset }} size="sm">
              {dataset}
            </AnchorLink>
          ) : (
            <AnchorLink to="/datasets" size="sm">
              {t('datasets.title')}
            </AnchorLink>
          )
        }
      />
      {may ? <Uploading /> : <EmptyState icon={IconLock} title={t('upload.mayNot')} />}
    </Page>
  );
}

function useSavedOrders(transfer: Transfer | null) {
  const owner = useMe()?.id ?? '';
  const project = useProject();
  const client = useQueryClient();
  const key = ['saved-uploads', owner, project];
  const running = transfer?.order.id;
  const orders = useQuery({ queryKey: key, queryFn: () => savedOrders(owner, project), staleTime: 0 }).data ?? [];
  const refetch = () => client.invalidateQueries({ queryKey: key });
  return {
    orders: orders.filter(({ id }) => id !== running),
    forget: async (order: Order) => {
      await forgetOrder(order.id);
      await refetch();
    },
    refetch,
  };
}

/** Goes on with an upload once its folder is chosen again. */
interface Resuming {
  order: Order;
  files: UploadFile[];
  problems: FileProblem[];
}

function Uploading() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const transfer = useTransfer();
  const handed = useHanded();
  const saved = useSavedOrders(transfer);
  const refresh = useRefresh();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [resumed, setResumed] = useState<Order | null>(null);
  const [differing, setDiffering] = useState<Resuming | null>(null);
  const begin = (order: Order, files: readonly UploadFile[]) => {
    setChosen(null);
    setResumed(null);
    setDiffering(null);
    void startTransfer(order, files).run().then(refresh);
  };
  const choose = async (given: Chosen) => {
    if (!resumed) return setChosen(given);
    const { files } = placed(given, resumed);
    const problems = differences(await savedFiles(resumed.id), files);
    if (problems.length === 0) begin(resumed, files);
    else setDiffering({ order: resumed, files, problems });
  };
  useEffect(() => {
    if (!handed) return;
    setChosen(handed);
    takeHanded();
  }, [handed]);
  const close = () => {
    dropTransfer();
    void saved.refetch();
  };
  const chooseAgain = () => {
    if (transfer) setResumed(transfer.order);
    dropTransfer();
  };
  if (transfer) return <TransferCard transfer={transfer} onClose={close} onChooseAgain={chooseAgain} />;
  if (chosen)
    return (
      <Card maw={720}>
        <UploadForm chosen={chosen} search={search} onStart={begin} onCancel={() => setChosen(null)} />
      </Card>
    );
  if (differing)
    return (
      <Differing
        resuming={differing}
        onGoOn={() => begin({ ...differing.order, filesTotal: differing.files.length }, differing.files)}
        onBack={() => setDiffering(null)}
      />
    );
  if (resumed)
    return (
      <>
        <DropZone
          title={t('upload.chooseSame', { name: resumed.root || t('upload.files') })}
          hint={t('upload.chooseSameHint')}
          onChosen={(given) => void choose(given)}
        />
        <Button variant="subtle" color="gray" mt="sm" onClick={() => setResumed(null)}>
          {t('common.cancel')}
        </Button>
      </>
    );
  return (
    <>
      <Unfinished orders={saved.orders} onResume={setResumed} onForget={(order) => void saved.forget(order)} />
      <DropZone title={t('upload.drop')} hint={t('upload.dropHint')} onChosen={(given) => void choose(given)} />
    </>
  );
}

interface DifferingProps {
  resuming: Resuming;
  onGoOn: () => void;
  onBack: () => void;
}

/** The chosen files differ from those that the upload began with. */
function Differing({ resuming: { problems, files }, onGoOn, onBack }: DifferingProps) {
  const { t } = useTranslation();
  return (
    <FileProblems title={t('upload.differs', { count: problems.length })} problems={problems}>
      <Group gap="xs" mt="sm">
        <Button size="xs" variant="default" onClick={onBack}>
          {t('upload.chooseAgain')}
        </Button>
        {files.length > 0 && (
          <Button size="xs" onClick={onGoOn}>
            {t('upload.goOnWith', { count: files.length })}
          </Button>
        )}
      </Group>
    </FileProblems>
  );
}
