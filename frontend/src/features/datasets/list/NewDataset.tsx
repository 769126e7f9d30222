import { Modal, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { useCreateDataset } from '../queries';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function NewDataset({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { create } = useCreateDataset();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', description: '' },
    validate: { name: (value) => (NAME.test(value) ? null : t('datasets.nameInvalid')) },
  });
  const close = () => {
    form.reset();
    onClose();
  };
  const send = async (values: { name: string; description: string }) => {
    const { name } = await create(values);
    notifySuccess(t('datasets.created', { name }));
    close();
    await navigate({ to: '/datasets/$name', params: { name } });
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('datasets.new')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <FormFrame form={form} send={send} submit={t('common.create')} onCancel={close}>
        <TextInput
          label={t('datasets.name')}
          description={t('datasets.nameHint')}
          data-autofocus
          autoComplete="off"
          key={form.key('name')}
          {...form.getInputProps('name')}
        />
        <Textarea
          label={t('datasets.description')}
          autosize
          minRows={2}
          key={form.key('description')}
          {...form.getInputProps('description')}
        />
      </FormFrame>
    </Modal>
  );
}
