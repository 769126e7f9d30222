import { Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFocusBack } from '@/shared/focusBack';

interface SecretModalProps<Created> {
  title: string;
  onClose: () => void;
  form: (onCreated: (created: Created) => void) => ReactNode;
  secret: (created: Created) => ReactNode;
}

/** First the form; then the secret, which only a deliberate press closes. */
export function SecretModal<Created>({ title, onClose, form, secret }: SecretModalProps<Created>) {
  const { t } = useTranslation();
  useFocusBack();
  const [created, setCreated] = useState<{ value: Created } | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={title}
      closeOnClickOutside={created === null}
      closeOnEscape={created === null}
      withCloseButton={created === null}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {created === null ? form((value) => setCreated({ value })) : secret(created.value)}
    </Modal>
  );
}
