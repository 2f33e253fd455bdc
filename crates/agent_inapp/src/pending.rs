//! An answer that is on its way.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, Waker},
};

use agent_core::Backend;

use crate::{
    error::Error,
    in_flight::{InFlight, Reply, Request},
};

/// The answer to a request, as soon as it is there: look whether it is
/// ([`try_take`](Self::try_take), any thread, never waits), await it (any executor), or wait for
/// it off the UI thread ([`wait`](Self::wait)). It comes within the request's deadline in any
/// case, as an error if need be.
///
/// Dropping it withdraws the request, if that hasn't begun on the UI thread; what has begun
/// completes.
#[must_use = "a request that is dropped is withdrawn: take its answer, await it or wait for it"]
pub struct Pending<T> {
    state: State,
    take: Option<Take<T>>,
}

type Take<T> = Box<dyn FnOnce(Reply) -> Result<T, Error> + Send>;

enum State {
    /// It came to this without the UI thread.
    There(Option<Result<Reply, Error>>),
    /// It is on its way.
    Asked {
        request: Arc<Request>,
        in_flight: Arc<InFlight>,
        backend: Weak<dyn Backend>,
    },
}

impl<T> Pending<T> {
    pub(crate) fn there(
        reply: Result<Reply, Error>,
        take: impl FnOnce(Reply) -> Result<T, Error> + Send + 'static,
    ) -> Self {
        Self {
            state: State::There(Some(reply)),
            take: Some(Box::new(take)),
        }
    }

    pub(crate) fn asked(
        request: Arc<Request>,
        in_flight: Arc<InFlight>,
        backend: &Arc<dyn Backend>,
        take: impl FnOnce(Reply) -> Result<T, Error> + Send + 'static,
    ) -> Self {
        Self {
            state: State::Asked {
                request,
                in_flight,
                backend: Arc::downgrade(backend),
            },
            take: Some(Box::new(take)),
        }
    }

    /// The answer, if it is there. Once: after that, and while there is none, `None`. Any
    /// thread; never waits. In an app that draws when something happens,
    /// [`Session::on_news`](crate::Session::on_news) says when to look.
    pub fn try_take(&mut self) -> Option<Result<T, Error>> {
        self.look(None)
    }

    /// What the events that it brings about call it, as their cause. `None`: it can't bring any
    /// about.
    pub fn name(&self) -> Option<&str> {
        match &self.state {
            State::There(_) => None,
            State::Asked { request, .. } => Some(&request.name),
        }
    }

    /// Waits for the answer. Any thread but the UI thread, which would wait for itself.
    ///
    /// # Errors
    /// Those of the request; [`Error::OnUiThread`] at once, and the request is withdrawn. A
    /// backend that can't tell which thread that is ends such a wait at the deadline, with
    /// [`Error::Busy`].
    pub fn wait(mut self) -> Result<T, Error> {
        if let Some(result) = self.look(None) {
            return result;
        }
        let State::Asked {
            request, backend, ..
        } = &self.state
        else {
            // Taken before.
            return Err(Error::Closed);
        };
        if backend
            .upgrade()
            .is_some_and(|backend| backend.is_ui_thread())
        {
            return Err(Error::OnUiThread);
        }
        let reply = request.wait();
        self.convert(reply)
    }

    fn look(&mut self, waker: Option<&Waker>) -> Option<Result<T, Error>> {
        let reply = match &mut self.state {
            State::There(reply) => reply.take(),
            State::Asked { request, .. } => request.take(waker),
        };
        reply.map(|reply| self.convert(reply))
    }

    fn convert(&mut self, reply: Result<Reply, Error>) -> Result<T, Error> {
        match self.take.take() {
            Some(take) => take(reply?),
            None => Err(Error::Closed),
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.look(Some(context.waker())) {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if let State::Asked {
            request, in_flight, ..
        } = &self.state
        {
            in_flight.withdraw(request);
        }
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pending")
    }
}
