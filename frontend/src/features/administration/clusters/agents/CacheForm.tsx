import { Alert, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { CacheSettings, NodeAgent } from '@/api/schema';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { useSetCache } from '../queries';
import { type CacheFormValues, FIELD_NAMES, formOf, isLimit, isReplace, limitOf, requestOf } from './cacheForm';

interface CacheFormProps {
  cluster: string;
  settings: CacheSettings;
  agents: NodeAgent[];
  onDone: () => void;
}

/** How large the caches of a cluster's nodes grow, and when a silent node is replaced. */
export default function CacheForm({ cluster, settings, agents, onDone }: CacheFormProps) {
  const { t } = useTranslation();
  const set = useSetCache(cluster);
  const form = useForm<CacheFormValues>({
    initialValues: formOf(settings),
    validate: {
      limit: (text) => (isLimit(text) ? null : t('agents.limitWrong')),
      replace: (text) => (isReplace(text) ? null : t('agents.replaceWrong')),
    },
  });
  const send = async (values: CacheFormValues) => {
    await set(requestOf(values, settings));
    notifySuccess(t('agents.cacheKept', { name: cluster }));
    onDone();
  };
  const limit = isLimit(form.values.limit) ? limitOf(form.values) : null;
  const fuller = limit === null ? [] : agents.filter(({ used_bytes: used }) => used > limit);
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone} fieldNames={FIELD_NAMES}>
      <TextInput
        label={t('agents.limitGib')}
        description={t('agents.limitHint')}
        inputMode="decimal"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('limit')}
      />
      {fuller.length > 0 && (
        <Alert color="orange" role="status" style={{ overflowWrap: 'anywhere' }}>
          {t('agents.fuller', { count: fuller.length, nodes: fuller.map(({ node }) => node).join(', ') })}
        </Alert>
      )}
      <TextInput
        label={t('agents.replaceMinutes')}
        description={t('agents.replaceHint')}
        inputMode="decimal"
        autoComplete="off"
        {...form.getInputProps('replace')}
      />
    </FormFrame>
  );
}
