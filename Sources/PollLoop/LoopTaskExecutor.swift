/// The loop as the executor that a task prefers.
///
/// `LoopExecutor` can be preferred as well, but it can't tell a task's job from an actor's and has to run
/// both as isolated to itself. Code of the task is not isolated, and so takes the queue once more at every
/// start and resumption to leave that isolation. Jobs that come through here are run as what they are.
package final class LoopTaskExecutor: TaskExecutor {
  private let loop: LoopExecutor

  package init(_ loop: LoopExecutor) { self.loop = loop }

  package func enqueue(_ job: consuming ExecutorJob) { loop.enqueue(UnownedJob(job), of: self) }

  package func enqueue(_ job: UnownedJob) { loop.enqueue(job, of: self) }
}
