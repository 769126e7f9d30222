import { Alert, Button, Checkbox, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlugConnected } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Probe } from '@/api/contract/datasets';
import { FormFrame } from '@/shared/forms/FormFrame';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifySuccess } from '@/shared/ui/undo';
import { newSource, type SourceForm, sourceProbe } from './newSource';
import { PlaceFields } from './PlaceFields';
import { useSourceActions } from './queries';
import { useScheduleOptions } from './Schedule';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const URL_SHAPE = /^(s3|gs|az|s?webhdfs|file|https?):\/\/./;
const EMPTY: SourceForm = {
  name: '',
  url: 's3://',
  dataset: '',
  endpoint: '',
  region: '',
  access_key_id: '',
  secret_access_key: '',
  account_key: '',
  sas_token: '',
  service_account: '',
  hdfs_user: '',
  delegation_token: '',
  include: '',
  exclude: '',
  folderLabels: true,
  every_s: '0',
};

interface NewSourceProps {
  opened: boolean;
  onClose: () => void;
  /** The dataset that the form begins with. */
  dataset?: string;
}

export function NewSource({ opened, onClose, dataset = '' }: NewSourceProps) {
  const { t } = useTranslation();
  const { add, scan } = useSourceActions();
  const schedules = useScheduleOptions();
  const form = useForm<SourceForm>({
    initialValues: { ...EMPTY, dataset },
    validate: {
      name: (value) => (NAME.test(value) ? null : t('datasets.nameInvalid')),
      dataset: (value) => (NAME.test(value) ? null : t('datasets.nameInvalid')),
      url: (value) => (URL_SHAPE.test(value) ? null : t('sources.urlHint')),
    },
  });
  const close = () => {
    form.reset();
    onClose();
  };
  const send = async (values: SourceForm) => {
    const { name } = await add(newSource(values));
    close();
    notifySuccess(t('sources.added', { name }));
    await scan(name);
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('sources.new')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <FormFrame form={form} send={send} submit={t('sources.addAndScan')} onCancel={close}>
        <TextInput label={t('sources.name')} data-autofocus autoComplete="off" {...form.getInputProps('name')} />
        <TextInput
          label={t('sources.url')}
          description={t('sources.urlHint')}
          autoComplete="off"
          {...form.getInputProps('url')}
        />
        <PlaceFields form={form} />
        <TextInput
          label={t('sources.dataset')}
          description={t('sources.datasetHint')}
          autoComplete="off"
          {...form.getInputProps('dataset')}
        />
        <TextInput
          label={t('sources.include')}
          description={t('sources.globsHint')}
          {...form.getInputProps('include')}
        />
        <TextInput label={t('sources.exclude')} {...form.getInputProps('exclude')} />
        <Checkbox label={t('sources.folderLabels')} {...form.getInputProps('folderLabels', { type: 'checkbox' })} />
        <NativeSelect label={t('sources.schedule')} data={schedules} {...form.getInputProps('every_s')} />
        <Connection values={form.values} />
      </FormFrame>
    </Modal>
  );
}

/** Tries the place before anything is stored. */
function Connection({ values }: { values: SourceForm }) {
  const { t } = useTranslation();
  const { probe } = useSourceActions();
  const [busy, setBusy] = useState(false);
  const [found, setFound] = useState<Probe | null>(null);
  const [error, setError] = useState<unknown>(null);
  // Either was said of the place that was tried.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change that counts
  useEffect(() => {
    setFound(null);
    setError(null);
  }, [values]);
  const run = async () => {
    setBusy(true);
    setFound(null);
    setError(null);
    try {
      setFound(await probe(sourceProbe(values)));
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button variant="default" leftSection={<IconPlugConnected size={15} />} loading={busy} onClick={() => void run()}>
        {t('sources.test')}
      </Button>
      {error !== null && <ErrorState error={error} compact />}
      {found && (
        <Alert color={found.keys.length > 0 ? 'teal' : 'yellow'} variant="light" role="status">
          {found.keys.length > 0
            ? t('sources.found', { keys: found.keys.join(', ') + (found.has_more ? ' …' : '') })
            : t('sources.foundNothing')}
        </Alert>
      )}
    </>
  );
}
