import { FormFrame, type FormFrameProps } from '@/shared/forms/FormFrame';
import { OperationProgress } from './OperationProgress';
import type { Operation } from './operation';
import { tellIfCancelled } from './useOperation';

interface OperationFrameProps<T extends object> extends FormFrameProps<T> {
  operation: Operation;
}

/** The form of an operation: while it runs, it shows how far it is, and Cancel stops it and keeps the form. */
export function OperationFrame<T extends object>(props: OperationFrameProps<T>) {
  const { operation, send, onCancel, children, ...rest } = props;
  const sendIt = (values: T) => send(values).catch(tellIfCancelled);
  return (
    <FormFrame {...rest} send={sendIt} onCancel={operation.running ? operation.cancel : onCancel}>
      {children}
      <OperationProgress operation={operation} />
    </FormFrame>
  );
}
