//! What an app meets: serving, being found, stopping, each over the real socket.
