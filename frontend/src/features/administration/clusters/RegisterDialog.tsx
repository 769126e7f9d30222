import { Alert, Button, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DryRunResult } from '@/api/schema';
import { FormFrame } from '@/shared/forms/FormFrame';
import { CommandLine } from '@/shared/ui/CommandLine';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifySuccess } from '@/shared/ui/undo';
import { Findings } from './Findings';
import { useDryRun, useRegister } from './queries';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const PRINT_KUBECONFIG = 'kubectl config view --minify --flatten --raw';

interface RegisterDialogProps {
  opened: boolean;
  onClose: () => void;
}

export function RegisterDialog({ opened, onClose }: RegisterDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} size="lg" title={t('clusters.registerTitle')}>
      <RegisterForm onDone={onClose} />
    </Dialog>
  );
}

interface Values {
  name: string;
  way: 'kubeconfig' | 'in_cluster';
  kubeconfig: string;
  context: string;
  namespace: string;
}

/** The body of a request: an empty field is left out, and means the server's own choice. */
const credentialsOf = ({ way, kubeconfig, context, namespace }: Values) => ({
  ...(way === 'in_cluster' ? { in_cluster: true } : { kubeconfig, ...(context.trim() && { context: context.trim() }) }),
  ...(namespace.trim() && { namespace: namespace.trim() }),
});

function RegisterForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const register = useRegister();
  const form = useForm<Values>({
    initialValues: { name: '', way: 'kubeconfig', kubeconfig: '', context: '', namespace: '' },
    validate: {
      name: (value) => (NAME.test(value) ? null : t('clusters.nameWrong')),
      kubeconfig: (value, { way }) => (way === 'in_cluster' || value.trim() ? null : t('clusters.kubeconfigMissing')),
    },
  });
  const send = async (values: Values) => {
    await register.mutateAsync({ body: { name: values.name, ...credentialsOf(values) } });
    notifySuccess(t('clusters.registered', { name: values.name }));
    onDone();
  };
  const byKubeconfig = form.values.way === 'kubeconfig';
  return (
    <FormFrame form={form} send={send} submit={t('clusters.register')} onCancel={onDone}>
      <TextInput
        label={t('clusters.name')}
        description={t('clusters.nameHint')}
        autoComplete="off"
        maxLength={63}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <SegmentedControl
        aria-label={t('clusters.way')}
        styles={{ label: { whiteSpace: 'normal' } }}
        data={[
          { value: 'kubeconfig', label: t('clusters.wayKubeconfig') },
          { value: 'in_cluster', label: t('clusters.wayInCluster') },
        ]}
        {...form.getInputProps('way')}
      />
      {byKubeconfig && <KubeconfigField {...form.getInputProps('kubeconfig')} />}
      {byKubeconfig && (
        <TextInput
          label={t('clusters.context')}
          description={t('clusters.contextHint')}
          autoComplete="off"
          {...form.getInputProps('context')}
        />
      )}
      <TextInput
        label={t('clusters.namespace')}
        description={t('clusters.namespaceHint')}
        autoComplete="off"
        {...form.getInputProps('namespace')}
      />
      <TestConnection values={form.values} disabled={byKubeconfig && !form.values.kubeconfig.trim()} />
    </FormFrame>
  );
}

export function KubeconfigField(props: object) {
  const { t } = useTranslation();
  return (
    <Stack gap={6}>
      <Textarea
        label={t('clusters.kubeconfig')}
        description={t('clusters.kubeconfigHint')}
        autosize
        minRows={5}
        maxRows={14}
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
        {...props}
      />
      <CommandLine command={PRINT_KUBECONFIG} />
    </Stack>
  );
}

/** Checks what the form has, without keeping anything; the result is that of the values that were sent. */
function TestConnection({ values, disabled }: { values: Values; disabled: boolean }) {
  const { t } = useTranslation();
  const dryRun = useDryRun();
  const [tested, setTested] = useState<{ of: string; result: DryRunResult } | null>(null);
  const body = credentialsOf(values);
  const key = JSON.stringify(body);
  const test = () => dryRun.mutateAsync({ body }).then((result) => setTested({ of: key, result }));
  const result = tested?.of === key ? tested.result : null;
  const shown = useRef<HTMLDivElement>(null);
  // The form is higher than most windows: what the test says would stand below the edge.
  useEffect(() => {
    if (result || dryRun.error) shown.current?.scrollIntoView?.({ block: 'nearest' });
  }, [result, dryRun.error]);
  return (
    <Stack gap="xs" ref={shown}>
      <div>
        <Button
          variant="default"
          loading={dryRun.isPending}
          disabled={disabled}
          // The error is shown below.
          onClick={() => void test().catch(() => setTested(null))}
        >
          {t('clusters.test')}
        </Button>
      </div>
      {dryRun.error != null && !result && <ErrorState error={dryRun.error} compact />}
      {result && (
        <Alert
          color={result.passed ? 'teal' : 'red'}
          title={t(result.passed ? 'clusters.tested' : 'clusters.testedBad')}
          role="status"
        >
          <Findings findings={result.findings} />
        </Alert>
      )}
    </Stack>
  );
}
