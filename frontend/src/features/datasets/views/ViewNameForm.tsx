import { Code, Modal, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { FormFrame } from '@/shared/forms/FormFrame';

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;

interface ViewNameDialogProps {
  opened: boolean;
  title: string;
  /** The name that it has; empty for a new one. */
  name: string;
  /** The query of the view, shown below the name. */
  query: string;
  submit: string;
  send: (name: string) => Promise<unknown>;
  onClose: () => void;
}

/** Asks for the name of a view: a new one, or another one. */
export function ViewNameDialog({ opened, title, onClose, ...rest }: ViewNameDialogProps) {
  const { t } = useTranslation();
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('common.close') }}>
      {opened && <ViewNameForm {...rest} onClose={onClose} />}
    </Modal>
  );
}

function ViewNameForm({ name, query, submit, send, onClose }: Omit<ViewNameDialogProps, 'opened' | 'title'>) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { name },
    validate: { name: (value) => (NAME.test(value) ? null : t('views.nameInvalid')) },
  });
  return (
    <FormFrame form={form} send={(values) => send(values.name).then(onClose)} submit={submit} onCancel={onClose}>
      <TextInput
        label={t('views.name')}
        description={t('views.nameHint')}
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('name')}
      />
      <div>
        <Text size="sm" fw={500} mb={4}>
          {t('views.asks')}
        </Text>
        <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {query}
        </Code>
      </div>
    </FormFrame>
  );
}
